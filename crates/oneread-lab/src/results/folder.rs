//! Stores results in a folder: `results.json` for programs and later runs, `report.html` and
//! `report.md` for people, and tables and pictures for further use.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::outcome::{self, Outcome};
use super::{Answered, Claim, Results, csv, html, pictures, report};
use crate::experiment::Run;
use crate::picture::svg;
use crate::{Experiment, Question, papers, questions};

const RESULTS: &str = "results.json";
const REPORT: &str = "report.md";
const PAGE: &str = "report.html";
const CLAIMS: &str = "claims.csv";
/// The subfolder with an SVG file and a CSV file per picture.
const PICTURES: &str = "pictures";

/// A folder of results. An interrupted run can continue, and a run of other papers adds to it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    results: Results,
    /// Whether results of another version, seed or effort were found.
    is_begun_anew: bool,
    /// The ids of all experiments and then of all questions, in the order of reports.
    order: Vec<String>,
    /// The open folder, locked where the system supports it. Of two concurrent runs, each would
    /// overwrite the other's results.
    _lock: Option<fs::File>,
}

impl Folder {
    /// Opens or creates the folder. Results of another version, seed or effort are replaced.
    ///
    /// # Errors
    /// If the folder cannot be made, if another run has it open, or if its results cannot be read.
    pub fn open(path: impl Into<PathBuf>, run: Run) -> Result<Self, FolderError> {
        let path = path.into();
        fs::create_dir_all(&path).map_err(|error| FolderError::new(&path, error))?;
        let lock = fs::File::open(&path).ok();
        if lock.as_ref().is_some_and(|lock| matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock))) {
            return Err(FolderError::busy(&path));
        }
        let file = path.join(RESULTS);
        let fresh = Results::new(run, Vec::new(), Vec::new());
        let found: Option<Results> = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(FolderError::new(&file, error)),
            Ok(bytes) => {
                Some(serde_json::from_slice(&bytes).map_err(|error| FolderError::new(&file, error))?)
            }
        };
        let is_same = |found: &Results| (&found.version, found.run) == (&fresh.version, run);
        let is_begun_anew = found.as_ref().is_some_and(|found| !is_same(found));
        let results = found.filter(is_same).unwrap_or(fresh);
        let mut order: Vec<_> = papers::all().iter().map(|experiment| experiment.id().to_owned()).collect();
        order.extend(questions::all().iter().map(|question| question.id().to_owned()));
        Ok(Self { path, results, is_begun_anew, order, _lock: lock })
    }

    /// Whether the folder has results of another version, seed or effort, which the next run
    /// replaces.
    #[must_use]
    pub const fn is_begun_anew(&self) -> bool {
        self.is_begun_anew
    }

    /// The stored outcome of an experiment.
    fn kept<O: Outcome>(&self, subject: &O::Subject) -> Option<&O> {
        O::list(&self.results).iter().find(|outcome| outcome.stands_for(subject))
    }

    /// How many of the experiments have a stored claim and will not run. A failed claim does not
    /// count, nor one whose text has changed.
    #[must_use]
    pub fn kept_of(&self, experiments: &[Experiment]) -> usize {
        experiments.iter().filter(|experiment| self.kept::<Claim>(experiment).is_some()).count()
    }

    /// How many of the questions have a stored answer and will not run.
    #[must_use]
    pub fn kept_of_questions(&self, questions: &[Question]) -> usize {
        questions.iter().filter(|question| self.kept::<Answered>(question).is_some()).count()
    }

    /// Runs the experiments without a stored claim, as [`run`](super::run) does, and saves each
    /// claim as it comes. Returns the claims of all the experiments, and writes the report of
    /// everything in the folder.
    ///
    /// # Errors
    /// If a file cannot be written. All experiments still finish.
    pub fn run(
        &mut self,
        experiments: &[Experiment],
        done: impl Fn(&Claim) + Sync,
    ) -> Result<Vec<Claim>, FolderError> {
        self.complete(experiments, done)?;
        let of =
            |experiment: &Experiment| self.results.claims.iter().find(|claim| claim.id == experiment.id());
        Ok(experiments.iter().filter_map(of).cloned().collect())
    }

    /// Answers the questions without a stored answer, as [`run`](Self::run) judges claims.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn answer(
        &mut self,
        questions: &[Question],
        done: impl Fn(&Answered) + Sync,
    ) -> Result<Vec<Answered>, FolderError> {
        self.complete(questions, done)?;
        let of = |question: &Question| self.results.answers.iter().find(|answer| answer.id == question.id());
        Ok(questions.iter().filter_map(of).cloned().collect())
    }

    /// Runs what has no stored outcome, and saves each outcome as it comes.
    fn complete<O: Outcome>(
        &mut self,
        subjects: &[O::Subject],
        done: impl Fn(&O) + Sync,
    ) -> Result<(), FolderError> {
        let missing = subjects.iter().filter(|subject| self.kept::<O>(subject).is_none()).collect();
        let run = self.results.run;
        let state = Mutex::new((&mut *self, Ok(())));
        outcome::all(missing, run, |outcome: &O| {
            let mut state = state.lock().expect("no panic under the lock");
            let (folder, saved) = &mut *state;
            folder.insert(outcome.clone());
            if saved.is_ok() {
                *saved = folder.save(RESULTS, &folder.json());
            }
            done(outcome);
        });
        let (_, saved) = state.into_inner().expect("no panic under the lock");
        saved?;
        self.save_all()
    }

    /// Saves everything, for programs and for people.
    fn save_all(&self) -> Result<(), FolderError> {
        self.save(RESULTS, &self.json())?;
        self.save(REPORT, &report::markdown(&self.results))?;
        self.save(PAGE, &html::page(&self.results))?;
        self.save(CLAIMS, &csv::claims(&self.results.claims))?;
        let pictures = pictures::all(&self.results);
        let below = self.path.join(PICTURES);
        fs::create_dir_all(&below).map_err(|error| FolderError::new(&below, error))?;
        for picture in pictures {
            self.save(&format!("{PICTURES}/{}.svg", picture.id), &svg::file(&picture))?;
            self.save(&format!("{PICTURES}/{}.csv", picture.id), &picture.csv())?;
        }
        Ok(())
    }

    /// Inserts an outcome in the order of the experiments.
    fn insert<O: Outcome>(&mut self, outcome: O) {
        let outcomes = O::list_mut(&mut self.results);
        outcomes.retain(|other| other.id() != outcome.id());
        outcomes.push(outcome);
        outcomes.sort_by_key(|outcome| self.order.iter().position(|id| id == outcome.id()));
    }

    fn json(&self) -> String {
        serde_json::to_string_pretty(&self.results).expect("text and numbers") + "\n"
    }

    /// Writes a file atomically: it appears whole or not at all.
    fn save(&self, name: &str, contents: &str) -> Result<(), FolderError> {
        let write = || {
            let mut builder = tempfile::Builder::new();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // The default mode of new files, to which the user's mask applies.
                builder.permissions(fs::Permissions::from_mode(0o666));
            }
            let mut file = builder.tempfile_in(&self.path)?;
            file.write_all(contents.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(self.path.join(name))?;
            Ok(())
        };
        write().map_err(|error: io::Error| FolderError::new(&self.path.join(name), error))
    }
}

/// A folder of results that cannot be read or written.
#[derive(Debug)]
pub struct FolderError {
    path: PathBuf,
    reason: String,
    advice: &'static str,
}

impl FolderError {
    fn new(path: &Path, reason: impl fmt::Display) -> Self {
        let advice = "choose another folder, or delete what is there";
        Self { path: path.to_owned(), reason: reason.to_string(), advice }
    }

    fn busy(path: &Path) -> Self {
        let reason = "another run writes to it".to_owned();
        Self { path: path.to_owned(), reason, advice: "choose another folder, or wait until it ends" }
    }
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, advice } = self;
        write!(f, "cannot keep results in {}: {reason}; {advice}", path.display())
    }
}

impl std::error::Error for FolderError {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::experiment::Effort;
    use crate::{Finding, Paper, Printed, Verdict};

    const RUN: Run = Run { seed: 1, effort: Effort::Quick };

    const UNEVEN: f64 = 1.147_982_066_619_231_7;

    /// An experiment that counts how often it is run.
    fn counting(name: &str, printed: &str, runs: &Arc<AtomicU32>) -> Experiment {
        let runs = Arc::clone(runs);
        Experiment::new(Paper::Lecture, name, "a claim", Printed::number(printed), move |_| {
            let before = runs.fetch_add(1, Ordering::Relaxed);
            // A float that a careless parser reads as its neighbour.
            if before == 0 { Ok(Finding::calculated(UNEVEN)) } else { Err("once is enough".into()) }
        })
    }

    #[test]
    fn what_is_kept_is_not_run_again_unless_version_seed_effort_or_claim_differ() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/folder");
        let runs = Arc::new(AtomicU32::new(0));
        let experiments = [counting("a", "1", &runs)];
        let mut folder = Folder::open(&path, RUN).unwrap();
        assert_eq!(folder.kept_of(&experiments), 0);
        let first = folder.run(&experiments, |_| ()).unwrap();
        assert_eq!((first[0].verdict, runs.load(Ordering::Relaxed)), (Verdict::Holds, 1));
        assert!(fs::read_to_string(path.join(REPORT)).unwrap().contains("a claim"));

        drop(folder);
        let mut folder = Folder::open(&path, RUN).unwrap();
        assert!(!folder.is_begun_anew() && folder.kept_of(&experiments) == 1);
        assert_eq!(folder.run(&experiments, |_| panic!("nothing is run")).unwrap(), first);

        assert_eq!(folder.kept_of(&[counting("a", "2", &runs)]), 0);
        drop(folder);
        for other in [Run { seed: 2, ..RUN }, Run { effort: Effort::Full, ..RUN }] {
            let folder = Folder::open(&path, other).unwrap();
            assert!(folder.is_begun_anew() && folder.kept_of(&experiments) == 0);
        }
        let file = path.join(RESULTS);
        let older = fs::read_to_string(&file).unwrap().replace(env!("CARGO_PKG_VERSION"), "0.0.0");
        fs::write(&file, older).unwrap();
        assert_eq!(Folder::open(&path, RUN).unwrap().kept_of(&experiments), 0);
    }

    #[test]
    fn what_failed_is_run_again_and_other_papers_stay() {
        let directory = tempfile::tempdir().unwrap();
        let (runs, other_runs) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
        let experiments = [counting("a", "1", &runs)];
        let mut folder = Folder::open(directory.path(), RUN).unwrap();
        assert_eq!(folder.run(&experiments, |_| ()).unwrap()[0].note, "once is enough");
        assert_eq!(folder.kept_of(&experiments), 0);
        let others = [counting("b", "1", &other_runs)];
        assert_eq!(folder.run(&others, |_| ()).unwrap().len(), 1);
        drop(folder);
        assert_eq!(Folder::open(directory.path(), RUN).unwrap().results.claims.len(), 2);
    }

    /// Two runs of different papers into one folder: the slower one overwrote the claims of the
    /// other.
    #[cfg(unix)]
    #[test]
    fn a_folder_is_for_one_run_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open(directory.path(), RUN).unwrap();
        let error = Folder::open(directory.path(), RUN).unwrap_err().to_string();
        assert!(error.ends_with("another run writes to it; choose another folder, or wait until it ends"));
        drop(folder);
        Folder::open(directory.path(), RUN).unwrap();
    }

    #[test]
    fn a_folder_that_holds_something_else_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(RESULTS), "{}").unwrap();
        let error = Folder::open(directory.path(), RUN).unwrap_err().to_string();
        assert!(error.contains(RESULTS) && error.contains("choose another folder"), "{error}");
    }
}
