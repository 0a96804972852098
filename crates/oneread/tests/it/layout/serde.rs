//! Layouts in serde's formats: complete, checked, and the same in a format without field names.

use std::fmt::Debug;

use oneread::hash::probes::SchemeName;
use oneread::layout::{
    BlockedLayout, BloomLayout, BucketBits, CountMinLayout, Counting, CountingLayout, DLeftLayout, Division,
    GrowingLayout, HintChain, HintRule, Hints, InterpolationLayout, Moves, MultilevelLayout,
    MultipleFiltersLayout, OnCrisis, Rows, Semisort, SingleFilterLayout, SummaryLayout, Ties, Update,
};
use serde::{Serialize, de::DeserializeOwned};

#[track_caller]
fn comes_back<L: Serialize + DeserializeOwned + Debug + PartialEq>(layout: &L, json: &str) {
    assert_eq!(serde_json::to_string(layout).expect("JSON"), json);
    assert_eq!(serde_json::from_str::<L>(json).expect("a layout"), *layout);
    let bytes = postcard::to_stdvec(layout).expect("bytes");
    assert_eq!(postcard::from_bytes::<L>(&bytes).expect("a layout"), *layout);
}

#[test]
fn a_filter_layout_comes_back_as_it_was() {
    let bloom = BloomLayout::new(1000, 7).and_then(|layout| layout.with_scheme(SchemeName::IndependentBands));
    comes_back(&bloom.unwrap(), r#"{"bits":994,"hashes":7,"scheme":"independent-bands"}"#);
    let dleft = DLeftLayout::uneven(&[8, 4], BucketBits::Bits128).unwrap();
    let dleft = dleft.with_semisort(Semisort::One).with_ties(Ties::Random).with_group(2).unwrap();
    let json = r#"{"buckets":[8,4],"bucket_bits":128,"semisort":"one","group":2,"ties":"random","division":"equal","pages":null}"#;
    comes_back(&dleft, json);
    // The format from before there were pages.
    let older = r#"{"buckets":[8,4],"bucket_bits":128,"semisort":"one","group":2,"ties":"random"}"#;
    assert_eq!(serde_json::from_str::<DLeftLayout>(older).unwrap(), dleft);
    let paged = DLeftLayout::paged(7, BucketBits::Bits64).unwrap().with_division(Division::Uneven);
    let json = r#"{"buckets":[254,128,128],"bucket_bits":64,"semisort":"paper","group":1,"ties":"left","division":"uneven","pages":7}"#;
    comes_back(&paged, json);
    comes_back(&BlockedLayout::new(3).unwrap(), r#"{"blocks":3}"#);
    let counting = CountingLayout::new(1000, 7, 4).unwrap().with_counting(Counting::OncePerItem);
    let json =
        r#"{"counters":1000,"hashes":7,"counter_bits":4,"counting":"once-per-item","scheme":"accelerated"}"#;
    comes_back(&counting, json);
    let counting =
        CountingLayout::new(1000, 7, 4).and_then(|layout| layout.with_scheme(SchemeName::IndependentBands));
    let json = r#"{"counters":994,"hashes":7,"counter_bits":4,"counting":"each-probe","scheme":"independent-bands"}"#;
    comes_back(&counting.unwrap(), json);
    let sketch = CountMinLayout::new(272, 5).unwrap();
    comes_back(&sketch, r#"{"width":272,"depth":5,"update":"plain","rows":"independent"}"#);
    let sketch = sketch.with_update(Update::Conservative).with_rows(Rows::TwoWords);
    comes_back(&sketch, r#"{"width":272,"depth":5,"update":"conservative","rows":"two-words"}"#);
    // Sketches from before there was a choice have rows of two words.
    let older = r#"{"width":272,"depth":5,"update":"conservative"}"#;
    assert_eq!(serde_json::from_str::<CountMinLayout>(older).unwrap(), sketch);
    let growing = GrowingLayout::new(1000, 0.01).and_then(|layout| layout.with_growth(4)).unwrap();
    let growing = growing.with_tightening(0.5).unwrap();
    comes_back(&growing, r#"{"first_items":1000,"rate":0.01,"growth":4,"tightening":0.5}"#);
}

#[test]
fn a_table_or_summary_layout_comes_back_as_it_was() {
    let table = MultilevelLayout::new([40, 10]).and_then(|layout| layout.with_slots(4)).unwrap();
    comes_back(&table, r#"{"levels":[40,10],"slots":4,"stash":32,"moves":"none","on_crisis":"stash"}"#);
    // Missing fields have their defaults.
    assert_eq!(serde_json::from_str::<MultilevelLayout>(r#"{"levels":[40,10],"slots":4}"#).unwrap(), table);
    let hints = Hints { rule: HintRule::Deepest, chain: HintChain::Recursive };
    let moving =
        MultilevelLayout::new([40, 10]).and_then(|layout| layout.with_moves(Moves::Both(hints))).unwrap();
    let moving = moving.with_crisis(OnCrisis::Rebuild { attempts: 3 }).unwrap();
    let json = r#"{"levels":[40,10],"slots":1,"stash":32,"moves":{"both":{"rule":"deepest","chain":"recursive"}},"on_crisis":{"rebuild":{"attempts":3}}}"#;
    comes_back(&moving, json);
    let unchecked = Hints { rule: HintRule::DeepestUnchecked, chain: HintChain::One };
    let moving =
        MultilevelLayout::new([40, 10]).and_then(|layout| layout.with_moves(Moves::Hints(unchecked)));
    let json = r#"{"levels":[40,10],"slots":1,"stash":32,"moves":{"hints":{"rule":"deepest-unchecked","chain":"one"}},"on_crisis":"stash"}"#;
    comes_back(&moving.unwrap(), json);
    let interpolation = InterpolationLayout::new(55).unwrap();
    comes_back(&interpolation, r#"{"fingerprint_bits":55}"#);
    comes_back(&SummaryLayout::from(interpolation), r#"{"interpolation":{"fingerprint_bits":55}}"#);
    let single = SingleFilterLayout::new(100, 5).unwrap();
    comes_back(&SummaryLayout::from(single), r#"{"single":{"cells":100,"hashes":5}}"#);
    let multiple = MultipleFiltersLayout::new([(100, 5), (50, 3)]).unwrap();
    let json = r#"{"multiple":{"filters":[{"bits":100,"hashes":5},{"bits":50,"hashes":3}],"list":null}}"#;
    comes_back(&SummaryLayout::from(multiple), json);
}

#[test]
fn what_cannot_be_made_cannot_be_read() {
    #[track_caller]
    fn refused<L: DeserializeOwned + Debug>(json: &str, expected: &str) {
        let error = serde_json::from_str::<L>(json).expect_err(json).to_string();
        assert!(error.contains(expected), "{json}: {error}");
    }
    refused::<MultilevelLayout>(r#"{"levels":[],"slots":1}"#, "levels");
    refused::<MultilevelLayout>(r#"{"levels":[1],"slots":0}"#, "slots");
    let nine =
        r#"{"levels":[9],"slots":1,"moves":{"restricted":{"fanout":9,"maps":"shifts","keep":"random"}}}"#;
    refused::<MultilevelLayout>(nine, "children");
    refused::<MultilevelLayout>(r#"{"levels":[1]}"#, "missing field");
    refused::<BloomLayout>(r#"{"bits":10,"hashes":65,"scheme":"double"}"#, "hashes");
    refused::<BloomLayout>(r#"{"bits":10,"hashes":6,"scheme":"thrice"}"#, "no probe scheme");
    refused::<BlockedLayout>(r#"{"blocks":0}"#, "blocks");
    refused::<BlockedLayout>(r#"{"blocks":18446744073709551615}"#, "blocks");
    let counting = |counters: &str, hashes, bits, counting, scheme| {
        format!(
            r#"{{"counters":{counters},"hashes":{hashes},"counter_bits":{bits},"counting":"{counting}","scheme":"{scheme}"}}"#
        )
    };
    refused::<CountingLayout>(&counting("0", 7, 4, "each-probe", "double"), "counters");
    refused::<CountingLayout>(&counting("9", 0, 4, "each-probe", "double"), "hashes");
    refused::<CountingLayout>(&counting("9", 7, 9, "each-probe", "double"), "bits");
    refused::<CountingLayout>(&counting("9", 7, 4, "twice", "double"), "unknown variant");
    // Ten bands of nine counters.
    refused::<CountingLayout>(&counting("9", 10, 4, "each-probe", "independent-bands"), "10");
    refused::<CountMinLayout>(r#"{"width":0,"depth":5,"update":"plain"}"#, "counters");
    refused::<CountMinLayout>(r#"{"width":18446744073709551615,"depth":64,"update":"plain"}"#, "counters");
    refused::<CountMinLayout>(r#"{"width":9,"depth":65,"update":"plain"}"#, "hashes");
    refused::<GrowingLayout>(r#"{"first_items":0,"rate":0.1,"growth":2,"tightening":0.5}"#, "items");
    refused::<GrowingLayout>(r#"{"first_items":9,"rate":-0.1,"growth":2,"tightening":0.5}"#, "rate");
    refused::<GrowingLayout>(r#"{"first_items":9,"rate":0.1,"growth":1,"tightening":0.5}"#, "grow");
    refused::<GrowingLayout>(r#"{"first_items":9,"rate":0.1,"growth":2,"tightening":1}"#, "tightening");
    // Other formats can hold what JSON cannot.
    let bytes = postcard::to_stdvec(&(9u64, f64::NAN, 2u32, 0.5)).expect("bytes");
    assert!(postcard::from_bytes::<GrowingLayout>(&bytes).is_err());
    let dleft = r#"{"buckets":[4],"bucket_bits":65,"semisort":"one","group":1,"ties":"left"}"#;
    refused::<DLeftLayout>(dleft, "64 or 128");
    refused::<SingleFilterLayout>(r#"{"cells":4,"hashes":5}"#, "at least 5");
    refused::<SummaryLayout>(r#"{"multiple":{"filters":[]}}"#, "filters");
    refused::<SummaryLayout>(r#"{"double":{}}"#, "unknown variant");
}
