//! Keys of Arrow arrays, through the C data interface and without a copy.

use std::ffi::CStr;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, BinaryViewType, ByteArrayType, ByteViewType, Int8Type, Int16Type,
    Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, StringViewType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray, PrimitiveArray, make_array,
};
use arrow_schema::{ArrowError, DataType};
use oneread::hash::{Digest, Digester, Key, Portable};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::batch::Keys;

/// The keys of an object that exports Arrow data; `None` if it does not.
pub(crate) fn pieces_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Box<dyn Keys>>>> {
    let py = object.py();
    let (stream, array) = (intern!(py, "__arrow_c_stream__"), intern!(py, "__arrow_c_array__"));
    let arrays = if object.hasattr(array)? {
        let pair = object.call_method0(array)?.cast_into::<PyTuple>()?;
        vec![import_array(&pair)?]
    } else if object.hasattr(stream)? {
        match object.call_method0(stream) {
            Ok(capsule) => import_stream(&capsule)?,
            // pandas exports only if pyarrow is installed; its values can be iterated over.
            Err(error) if error.is_instance_of::<PyImportError>(py) => return Ok(None),
            Err(error) => return Err(error),
        }
    } else {
        return Ok(None);
    };
    arrays.into_iter().map(keys_of).collect::<PyResult<_>>().map(Some)
}

fn import_array(pair: &Bound<'_, PyTuple>) -> PyResult<ArrayRef> {
    let schema = pointer::<FFI_ArrowSchema>(&pair.get_item(0)?, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(&pair.get_item(1)?, c"arrow_array")?;
    // SAFETY: capsules of these names hold these structs, by the rules of the interface; the names
    // were checked, and the capsules live until the end of this function. `from_raw` moves the
    // content out and leaves a released struct behind, for the destructors of the capsules.
    let data = unsafe {
        let schema = FFI_ArrowSchema::from_raw(schema);
        from_ffi(FFI_ArrowArray::from_raw(array), &schema)
    };
    Ok(make_array(data.map_err(explained)?))
}

fn import_stream(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    // SAFETY: as in `import_array`.
    let reader = unsafe { ArrayStreamReader::from_raw(stream) };
    reader.map_err(explained)?.collect::<Result<_, _>>().map_err(explained)
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static CStr) -> PyResult<*mut T> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr().cast())
}

fn explained(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The keys of an array of a supported type.
fn keys_of(array: ArrayRef) -> PyResult<Box<dyn Keys>> {
    if array.null_count() > 0 {
        return Err(PyValueError::new_err(format!(
            "{} of {} keys are null: drop or fill them first",
            array.null_count(),
            array.len()
        )));
    }
    Ok(match array.data_type() {
        DataType::Int8 => Box::new(array.as_primitive::<Int8Type>().clone()),
        DataType::Int16 => Box::new(array.as_primitive::<Int16Type>().clone()),
        DataType::Int32 => Box::new(array.as_primitive::<Int32Type>().clone()),
        DataType::Int64 => Box::new(array.as_primitive::<Int64Type>().clone()),
        DataType::UInt8 => Box::new(array.as_primitive::<UInt8Type>().clone()),
        DataType::UInt16 => Box::new(array.as_primitive::<UInt16Type>().clone()),
        DataType::UInt32 => Box::new(array.as_primitive::<UInt32Type>().clone()),
        DataType::UInt64 => Box::new(array.as_primitive::<UInt64Type>().clone()),
        DataType::Utf8 => Box::new(array.as_bytes::<Utf8Type>().clone()),
        DataType::LargeUtf8 => Box::new(array.as_bytes::<LargeUtf8Type>().clone()),
        DataType::Binary => Box::new(array.as_bytes::<BinaryType>().clone()),
        DataType::LargeBinary => Box::new(array.as_bytes::<LargeBinaryType>().clone()),
        DataType::Utf8View => Box::new(array.as_byte_view::<StringViewType>().clone()),
        DataType::BinaryView => Box::new(array.as_byte_view::<BinaryViewType>().clone()),
        DataType::FixedSizeBinary(_) => Box::new(array.as_fixed_size_binary().clone()),
        other => {
            return Err(PyTypeError::new_err(format!(
                "expected keys of an integer, string or binary type, found {other}: cast the column"
            )));
        }
    })
}

impl<T: ArrowPrimitiveType<Native: Key>> Keys for PrimitiveArray<T> {
    fn len(&self) -> usize {
        Array::len(self)
    }

    fn fill(&self, digester: &Portable, start: usize, out: &mut [Digest]) {
        let values = &self.values()[start..];
        out.iter_mut().zip(values).for_each(|(out, value)| *out = digester.digest(value));
    }
}

macro_rules! keys_of_bytes {
    ($([$($generic:tt)*] $array:ty;)*) => {$(
        impl $($generic)* Keys for $array {
            fn len(&self) -> usize {
                Array::len(self)
            }

            fn fill(&self, digester: &Portable, start: usize, out: &mut [Digest]) {
                for (at, out) in out.iter_mut().enumerate() {
                    let bytes: &[u8] = self.value(start + at).as_ref();
                    *out = digester.digest(bytes);
                }
            }
        }
    )*};
}

keys_of_bytes! {
    [<T: ByteArrayType>] GenericByteArray<T>;
    [<T: ByteViewType>] GenericByteViewArray<T>;
    [] FixedSizeBinaryArray;
}
