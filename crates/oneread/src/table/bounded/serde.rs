//! Serialization of maps, in the form that all maps have in serde.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::BoundedMap;
use crate::hash::{Digester, Std};
use crate::layout::BoundedLayout;

impl<K: Serialize, V: Serialize, D> Serialize for BoundedMap<K, V, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// Deserializes items into this map, whose capacity and digester the serialized form lacks.
///
/// An item without room is an error.
impl<'de, K, V, D> DeserializeSeed<'de> for BoundedMap<K, V, D>
where
    K: Deserialize<'de> + Eq,
    V: Deserialize<'de>,
    D: Digester<K>,
{
    type Value = Self;

    fn deserialize<A: Deserializer<'de>>(self, deserializer: A) -> Result<Self, A::Error> {
        deserializer.deserialize_map(Into(self))
    }
}

struct Into<M>(M);

impl<'de, K, V, D> Visitor<'de> for Into<BoundedMap<K, V, D>>
where
    K: Deserialize<'de> + Eq,
    V: Deserialize<'de>,
    D: Digester<K>,
{
    type Value = BoundedMap<K, V, D>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
        while let Some((key, value)) = items.next_entry()? {
            self.0.insert(key, value).map_err(A::Error::custom)?;
        }
        Ok(self.0)
    }
}

/// The items in order. Collected first, because the length that the input claims is not trusted.
struct Items<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Items<K, V> {
    type Value = Vec<(K, V)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = map.next_entry()? {
            items.push(item);
        }
        Ok(items)
    }
}

/// Creates a map that just has room for these items.
fn just_large_enough<K: Eq, V, D: Digester<K>, E: Error>(
    items: Vec<(K, V)>,
    digester: D,
) -> Result<BoundedMap<K, V, D>, E> {
    let layout = BoundedLayout::for_capacity((items.len() as u64).max(1)).map_err(E::custom)?;
    let mut map = BoundedMap::with_digester(layout, digester).map_err(E::custom)?;
    map.try_extend(items).map_err(E::custom)?;
    Ok(map)
}

/// The traits of maps whose digester has a default.
macro_rules! deserialize {
    ([$($parameter:ident: $bound:path)?], $digester:ty, $make:expr) => {
        /// The capacity is exactly the number of items; [`grow_into`](BoundedMap::grow_into)
        /// changes it. To use the capacity of an existing map, deserialize into it as a
        /// `DeserializeSeed`.
        impl<'de, K, V, $($parameter: $bound)?> Deserialize<'de> for BoundedMap<K, V, $digester>
        where
            K: Deserialize<'de> + Eq,
            V: Deserialize<'de>,
            $digester: Digester<K>,
        {
            fn deserialize<A: Deserializer<'de>>(deserializer: A) -> Result<Self, A::Error> {
                just_large_enough(deserializer.deserialize_map(Items(PhantomData))?, $make)
            }
        }
    };
}

#[cfg(feature = "std")]
deserialize!([], crate::hash::Portable, crate::hash::Portable::random());
deserialize!([S: Default], Std<S>, Std::default());
