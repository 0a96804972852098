//! The Count-Min sketch as a Python class.

use std::path::PathBuf;

use oneread::bits::{LittleEndian, Words};
use oneread::filter::generic::CountMin;
use oneread::filter::{CountMinSketch as Sketch, CountMinView, Filter};
use oneread::hash::Portable;
use oneread::layout::Update;
use oneread::plan;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::body::{Body, Guarded};
use super::file::{Mapped, read, write_whole};
use super::load::checked;
use crate::{batch, errors, keys};

type InPlace = Filter<CountMin<LittleEndian<'static>>>;

type SketchBody = Body<Sketch, (InPlace, Mapped)>;

/// Runs an expression with the sketch, in memory or in a file.
macro_rules! with_body {
    ($body:expr, $sketch:ident => $use:expr) => {
        match $body {
            Body::Memory($sketch) => $use,
            Body::File(($sketch, _)) => $use,
        }
    };
}

/// Counts keys in fixed memory: never too low, and rarely much too high.
///
/// With probability `1 - delta`, an estimate exceeds the truth by at most `epsilon` times the total
/// of all counts. A conservative sketch exceeds it less, but two of them cannot be added.
///
/// >>> import oneread
/// >>> views = oneread.CountMinSketch(0.001, 0.01)
/// >>> views.add("a", 3)
/// >>> views["a"], views.total
/// (3, 3)
#[pyclass(module = "oneread", frozen)]
pub(crate) struct CountMinSketch {
    digester: Portable,
    body: Guarded<SketchBody>,
}

impl CountMinSketch {
    fn of(body: SketchBody) -> Self {
        let digester = *with_body!(&body, sketch => sketch.digester());
        Self { digester, body: Guarded::new(body) }
    }

    fn load(bytes: &[u8]) -> PyResult<Sketch> {
        Sketch::from_bytes(bytes).map_err(errors::load)
    }
}

fn in_memory(body: &SketchBody) -> PyResult<Sketch> {
    match body {
        Body::Memory(sketch) => Ok(sketch.clone()),
        Body::File((_, bytes)) => CountMinSketch::load(bytes),
    }
}

fn estimate_digests<W: Words>(
    sketch: &Filter<CountMin<W>>,
    digests: batch::Digests<'_>,
    out: &mut [[u8; 8]],
) {
    let mut out = out.iter_mut();
    sketch.estimate_digests(digests, |count| {
        if let Some(out) = out.next() {
            *out = count.to_ne_bytes();
        }
    });
}

#[pymethods]
impl CountMinSketch {
    #[new]
    #[pyo3(signature = (epsilon, delta, *, conservative=false, seed=None))]
    fn new(
        py: Python<'_>,
        epsilon: f64,
        delta: f64,
        conservative: bool,
        seed: Option<u64>,
    ) -> PyResult<Self> {
        let build = || {
            let layout = plan::count_min::for_error(epsilon, delta)?;
            let update = if conservative { Update::Conservative } else { Update::Plain };
            Sketch::with_digester(layout.with_update(update), keys::digester(seed))
        };
        Ok(Self::of(Body::Memory(py.detach(build).map_err(errors::build)?)))
    }

    /// Adds to the count of a key.
    #[pyo3(signature = (key, count=1))]
    fn add(&self, py: Python<'_>, key: &Bound<'_, PyAny>, count: u64) -> PyResult<()> {
        let digest = keys::digest_of(&self.digester, key)?;
        self.body.write(py, |body| {
            body.changed()?.add_digest(digest, count);
            Ok(())
        })
    }

    /// Adds 1 to the count of each key of an array or an iterable, like `BloomFilter.add_many`.
    fn add_many(&self, keys: &Bound<'_, PyAny>) -> PyResult<()> {
        batch::for_each_batch(keys, &self.digester, |digests| {
            self.body.write_alone(|body| {
                body.changed()?.add_digests(digests);
                Ok(())
            })
        })
    }

    /// The estimated count of a key: an upper bound.
    fn estimate(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        let digest = keys::digest_of(&self.digester, key)?;
        Ok(self.body.read(py, |body| with_body!(body, sketch => sketch.estimate_digest(digest))))
    }

    fn __getitem__(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<u64> {
        self.estimate(py, key)
    }

    /// The estimated counts of many keys, as a numpy array of `uint64`.
    #[pyo3(signature = (keys, *, threads=1))]
    fn estimate_many<'py>(&self, keys: &Bound<'py, PyAny>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        batch::answers(keys, &self.digester, threads, "uint64", |digests, out| {
            self.body.read_alone(|body| with_body!(body, sketch => estimate_digests(sketch, digests, out)));
            Ok(())
        })
    }

    /// Adds the counts of another sketch of the same size and seed.
    fn __iadd__(&self, other: &Bound<'_, Self>) -> PyResult<()> {
        let (py, other) = (other.py(), other.get());
        py.detach(|| {
            // A copy, since both may be the same sketch.
            let other = other.body.read_alone(in_memory)?;
            self.body.write_alone(|body| body.changed()?.merge(&other).map_err(errors::merge))
        })
    }

    fn __add__(&self, other: &Bound<'_, Self>) -> PyResult<Self> {
        let sum = self.copy(other.py())?;
        sum.__iadd__(other)?;
        Ok(sum)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Self>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let is_same = std::ptr::eq(self, other)
            || py.detach(|| {
                self.body.read_two(
                    &other.body,
                    |body, other| with_body!(body, sketch => with_body!(other, other => sketch == other)),
                )
            });
        Ok(is_same.into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// Sets all counts to 0.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            self.body.write_alone(|body| {
                body.changed()?.clear();
                Ok(())
            })
        })
    }

    /// A copy in memory, which can be changed.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self::of(Body::Memory(py.detach(|| self.body.read_alone(in_memory))?)))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __bool__(&self, py: Python<'_>) -> bool {
        self.total(py) > 0
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (total, bits) = (self.total(py), self.bits(py));
        let layout = self.body.read(py, |body| with_body!(body, sketch => sketch.layout()));
        format!(
            "CountMinSketch(total={total}, bits={bits}, width={}, depth={})",
            layout.width(),
            layout.depth()
        )
    }

    /// The sum of all counts that were added.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.body.read(py, |body| with_body!(body, sketch => sketch.total()))
    }

    /// The bits that it takes.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        8 * self.body.read(py, |body| with_body!(body, sketch => sketch.byte_len())) as u64
    }

    /// The seed of its hash function.
    #[getter]
    const fn seed(&self) -> u64 {
        self.digester.seed()
    }

    /// The sketch as bytes, which the Rust library and every platform can load.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| {
            self.body.read_alone(|body| match body {
                Body::Memory(sketch) => sketch.to_bytes(),
                Body::File((_, bytes)) => bytes.to_vec(),
            })
        });
        PyBytes::new(py, &bytes)
    }

    /// Loads a sketch from bytes.
    #[classmethod]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let data = keys::bytes_of(data, "data")?;
        let (py, data) = (cls.py(), data.as_bytes(cls.py()));
        Ok(Self::of(Body::Memory(py.detach(|| Self::load(data))?)))
    }

    /// Saves the sketch to a file, which is replaced only when the new one is whole and safe.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| {
            self.body.read_alone(|body| {
                write_whole(&path, |writer| match body {
                    Body::Memory(sketch) => sketch.save(writer),
                    Body::File((_, bytes)) => writer.write_all(bytes),
                })
            })
        })
    }

    /// Opens a file that was saved here or in Rust; with `mmap`, it is queried in place and
    /// read-only, like `BloomFilter.open`.
    #[classmethod]
    #[pyo3(signature = (path, *, mmap=false, verify=false))]
    fn open(cls: &Bound<'_, PyType>, path: PathBuf, mmap: bool, verify: bool) -> PyResult<Self> {
        let body = cls.py().detach(|| {
            if mmap {
                let bytes = Mapped::open(&path)?;
                let sketch =
                    checked(CountMinView::open_owned(bytes.clone()), verify).map_err(errors::load)?;
                return Ok::<_, PyErr>(Body::File((sketch, bytes)));
            }
            Ok(Body::Memory(Self::load(&read(&path)?)?))
        });
        Ok(Self::of(body?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let load = slf.get_type().getattr("from_bytes")?;
        Ok((load, (slf.get().to_bytes(slf.py()),)))
    }
}
