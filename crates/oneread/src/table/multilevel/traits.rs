//! What every map of Rust does.

use super::MultilevelTable;
use crate::table::surface::map_traits;

map_traits!(MultilevelTable);
