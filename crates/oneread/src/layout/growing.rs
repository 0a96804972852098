//! How a Bloom filter that grows is laid out.

use super::error::{check_fraction, check_places};
use super::{LayoutError, MAX_PLACES, Quantity};

/// Layers of Bloom filters, each larger and stricter than the one before, for a set of unknown
/// size.
///
/// Layer i (from 0) is made for `first_items`·growth^i items and a share rate·(1 − t)·t^i of the
/// rate, where t is the tightening. The shares of any number of layers add up to at most the rate
/// (within rounding: 1e-13 of it). A false positive of the whole is one of some layer.
///
/// # Source
/// Almeida, Baquero, Preguiça, Hutchison, "Scalable Bloom Filters", 2007. Differs from the paper
/// in: the rate is that of the whole. The paper gives it to the first layer and bounds the whole by
/// rate/(1 − t).
///
/// # Example
/// ```
/// use oneread::layout::GrowingLayout;
///
/// assert!(GrowingLayout::new(1000, 1.0).is_err());
/// let layout = GrowingLayout::new(1000, 0.01)?;
/// let halving = layout.with_tightening(0.5)?;
/// assert_eq!(halving.layer(0)?, (1000, 0.005));
/// assert_eq!(halving.layer(2)?, (4000, 0.00125));
/// # Ok::<(), oneread::layout::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct GrowingLayout {
    first_items: u64,
    rate: f64,
    growth: u32,
    tightening: f64,
}

impl GrowingLayout {
    /// The least growth. With equal layers, the number of layers would be linear in the set's size.
    pub const MIN_GROWTH: u32 = 2;

    /// The usual growth. A new layer has room for `first_items` keys more than all layers before
    /// it. Adding it makes the filter two to three times as large.
    pub const GROWTH: u32 = 2;

    /// The usual tightening, in the middle of the paper's recommendation. At 1% from 1000 items on,
    /// full layers take 13.5 bits per key in the first layer and 17.6 at 16 million keys. Halving
    /// takes 11.0 and 28.3.
    pub const TIGHTENING: f64 = 0.85;

    /// Starts at `first_items` and doubles with each layer; `rate` is the rate of the whole.
    ///
    /// # Errors
    /// If there are no first items or more than [`MAX_PLACES`], or if the rate is not between 0 and
    /// 1.
    pub fn new(first_items: u64, rate: f64) -> Result<Self, LayoutError> {
        check_places(Quantity::Items, first_items, MAX_PLACES)?;
        check_fraction(Quantity::Rate, rate)?;
        Ok(Self { first_items, rate, growth: Self::GROWTH, tightening: Self::TIGHTENING })
    }

    /// Makes each layer `growth` times as large as the one before.
    ///
    /// # Errors
    /// If the growth is less than 2.
    pub fn with_growth(self, growth: u32) -> Result<Self, LayoutError> {
        if growth < Self::MIN_GROWTH {
            return Err(LayoutError::Growth { expected: Self::MIN_GROWTH, found: growth });
        }
        Ok(Self { growth, ..self })
    }

    /// Makes each layer's rate `tightening` times that of the one before (r in the paper, t here).
    ///
    /// # Errors
    /// If the tightening is not between 0 and 1.
    pub fn with_tightening(self, tightening: f64) -> Result<Self, LayoutError> {
        check_fraction(Quantity::Tightening, tightening)?;
        Ok(Self { tightening, ..self })
    }

    getters! {
        /// The items of the first layer.
        first_items: u64,
        /// The rate of the whole.
        rate: f64,
        /// How many times larger each layer is than the one before.
        growth: u32,
        /// The ratio of a layer's rate to that of the one before.
        tightening: f64,
    }

    /// The capacity in items of layer `index` (from 0), and its share of the rate.
    ///
    /// # Errors
    /// If the layer has more than [`MAX_PLACES`] items, or a share too small for a float: the set
    /// has outgrown the layout.
    pub fn layer(&self, index: u32) -> Result<(u64, f64), LayoutError> {
        let (mut items, mut rate) = (self.first_items, self.rate * (1.0 - self.tightening));
        for _ in 0..index {
            // Items at least double, so that this ends after 46 rounds, whatever the index.
            items = items.saturating_mul(u64::from(self.growth));
            rate *= self.tightening;
            check_places(Quantity::Items, items, MAX_PLACES)?;
        }
        check_fraction(Quantity::Rate, rate)?;
        Ok((items, rate))
    }
}
