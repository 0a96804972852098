//! What is refused, and what the help shows.

use super::{Shell, refused};

#[test]
fn bad_input_is_one_sentence_on_stderr_and_exit_code_2() {
    let shell = Shell::new();
    for (args, expected) in [
        ("multilevel --items 0 --levels 10", "items"),
        ("multilevel --items -5 --levels 10", "not negative"),
        ("multilevel --items NaN --levels 10", "whole number"),
        ("multilevel --items 2.5 --levels 10", "whole number"),
        ("multilevel --items 1e18 --levels 10", "items"),
        ("multilevel --items 1e400 --levels 10", "whole number"),
        ("multilevel --levels 10", "--items"),
        ("multilevel --items 10", "--levels"),
        ("multilevel --items 10 --levels ,", "--levels"),
        ("multilevel --items 10 --levels 10,,5", "--levels"),
        ("multilevel --items 10 --levels 10,0", "buckets"),
        ("multilevel --items 10 --levels 1e18", "buckets"),
        ("multilevel --items 10 --levels 60e12,60e12", "buckets"),
        ("multilevel --items 10 --levels 10 --slots 0", "slots"),
        ("multilevel --items 10 --levels 10 --slots 1e18", "slots"),
        ("multilevel --items 10 --levels 10 --first-level 10", "cannot be used with"),
        ("multilevel --items 10 --first-level 10 --c1 10", "cannot be used with"),
        ("multilevel --items 10 --ratio 0.5", "--first-level"),
        ("multilevel --items 10 --first-level 0", "buckets"),
        ("multilevel --items 10 --first-level 1e18", "buckets"),
        ("multilevel --items 10 --first-level 10 --ratio 1", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio 0", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio -0.5", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --ratio NaN", "between 0 and 1"),
        ("multilevel --items 10 --first-level 10 --level-count 0", "levels"),
        ("multilevel --items 10 --first-level 10 --level-count 1e18", "level-count"),
        ("multilevel --items 10 --c1 NaN", "above 0"),
        ("multilevel --items 10 --c1 -1", "above 0"),
        ("multilevel --items 10 --c1 1e300", "buckets"),
        ("multilevel --items 10 --levels 10 --sweep ratio=0.1..0.2", "--first-level"),
        ("multilevel --items 10 --sweep ratio=0.1..0.2", "--first-level"),
        ("multilevel --items 10 --sweep items=1..2", "--levels"),
        ("summary interpolation --items 10 --levels 10 --fingerprint-bits 0", "fingerprint bits"),
        ("summary interpolation --items 10 --levels 10 --fingerprint-bits 129", "fingerprint bits"),
        ("summary interpolation --items 0 --levels 10 --fingerprint-bits 20", "items"),
        ("summary single --items 10 --levels 10 --cells 0 --hashes 5", "cells"),
        ("summary single --items 10 --levels 10 --cells 100 --hashes 0", "hashes"),
        ("summary single --items 10 --levels 10 --cells 1e18 --hashes 5", "cells"),
        ("summary single --items 10 --levels 10 --cells 4 --hashes 5", "hashes"),
        ("summary multiple --items 10 --levels 10 --filters 10", "106000:7"),
        ("summary multiple --items 10 --levels 10 --filters 10:0", "hashes"),
        ("summary multiple --items 10 --levels 10 --filters 0:1", "bits"),
        ("summary multiple --items 10 --levels 10,5 --filters 10:1", "filters"),
        ("summary multiple --items 10 --levels 10 --filters -10:1", "106000:7"),
        ("deletions --alive 0 --deleted 0 --levels 10", "items"),
        ("deletions --alive 10 --deleted 1e18 --levels 10", "items"),
        ("deletions --alive 10 --deleted 5 --levels 0", "buckets"),
        ("dleft --load 0", "above 0"),
        ("dleft --load -1", "above 0"),
        ("dleft --load nan", "above 0"),
        ("dleft --load -inf", "above 0"),
        ("dleft --load 7", "up to 6"),
        ("dleft --load 1e18 --bucket-bits 128", "up to 11"),
        ("dleft --load 4 --bucket-bits 65", "64 or 128"),
        ("dleft --load 4 --subtables 0", "sub-tables"),
        ("dleft --load 4 --subtables 9", "sub-tables"),
        ("dleft --load 4 --subtables 1e18", "--subtables"),
        ("dleft --load 4 --group 0", "group"),
        ("dleft --load 4 --semisort two", "none, one, paper"),
        ("dleft --load 4 --buckets 1e18", "buckets"),
        ("bloom --items 0 --bits 10", "items"),
        ("bloom --items 1e18 --bits 10", "items"),
        ("bloom --items 10 --bits 0", "bits"),
        ("bloom --items 10 --bits 1e18", "bits"),
        ("bloom --items 10 --bits 10 --hashes 0", "hashes"),
        ("bloom --items 10 --bits 10 --hashes 1e18", "hashes"),
        ("restricted --items 0 --levels 1", "items"),
        ("restricted --items 1e18 --levels 6", "items"),
        ("restricted --items 64 --levels 0", "levels"),
        ("restricted --items 64 --levels 8", "levels"),
        ("restricted --items 64 --levels 3 --fanout 0", "fan-out"),
        ("restricted --items 64 --levels 3 --policy best", "random, greedy"),
        ("bloom --items 10 --bits 10 --sweep hashes", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..NaN", "FIELD=A..B"),
        ("bloom --items 10 --bits 10 --sweep hashes=3..1", "no larger than B"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3..0", "steps above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..3..x2", "A above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..1e18..1", "10000 values"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9 --steps 1e18", "10000 values"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9 --steps 1", "2 or more"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..9 --log", "start above 0"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..9..2 --steps 3", "leave out --steps"),
        ("bloom --items 10 --bits 10 --hashes 1 --steps 3", "--sweep"),
        ("bloom --items 10 --bits 10 --sweep hashes=-1..3", "hashes cannot be -1"),
        ("bloom --items 10 --bits 10 --sweep hashes=0..3", "at hashes = 0"),
        ("bloom --items 10 --bits 10 --sweep levels=1..3", "items, bits, hashes"),
        ("bloom --items 10 --sweep hashes=1..3", "--bits"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3 --plot x.svg", "cannot be used with"),
        ("bloom --items 10 --bits 10 --sweep hashes=1..3 --layout-out x.json", "cannot be used with"),
        ("dleft --sweep load=0..4", "at load = 0"),
    ] {
        refused(&shell, args, expected);
    }
}

#[test]
fn help_teaches_by_example() {
    for command in ["", "multilevel", "summary", "deletions", "dleft", "bloom", "restricted"]
        .map(str::to_owned)
        .into_iter()
        .chain(["interpolation", "single", "multiple"].map(|kind| format!("summary {kind}")))
    {
        let shell = Shell::new();
        let help = shell.done(&format!("{command} --help"));
        // Each example of the help must work; some read a file that an earlier one wrote.
        let joined = help.replace("\\\n", "");
        let examples = joined.lines().filter_map(|line| line.strip_prefix("  oneread plan "));
        let examples: Vec<_> = examples.map(|example| example.split('>').next().unwrap()).collect();
        assert!(!examples.is_empty(), "{help}");
        for example in examples {
            assert!(example.starts_with(&command), "{example}");
            shell.done(example);
        }
    }
}
