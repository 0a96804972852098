//! Decompresses zstd: any number of frames, one after the other.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The fewest bytes to decode at a time; blocks have up to 128 KiB.
const STEP: usize = 1 << 17;

/// Reads the decompressed bytes of a source. Skips skippable frames, and verifies checksums where
/// frames have them.
pub(super) struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Zstd<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), in_frame: false }
    }

    /// Begins the next frame; returns `false` if there is none.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut (&mut self.source).take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(false)
    }

    fn check(&self) -> io::Result<()> {
        match self.decoder.get_checksum_from_data() {
            Some(expected) if self.decoder.get_calculated_checksum() != Some(expected) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "a checksum is wrong"))
            }
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.in_frame && !self.begin()? {
                return Ok(0);
            }
            // Until a frame ends, the window that later blocks may refer to cannot be collected.
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBytes(STEP))
                    .map_err(failed)?;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            self.check()?;
            self.in_frame = false;
        }
    }
}

/// Passes read errors on; all others mean that the bytes are not valid zstd.
fn failed(error: FrameDecoderError) -> io::Error {
    if let FrameDecoderError::WindowSizeTooBig { max, .. } = error {
        let most = max >> 20;
        let advice = format!("its zstd window is larger than {most} MiB: compress it again without --long");
        return io::Error::new(io::ErrorKind::Unsupported, advice);
    }
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            return io.kind().into();
        }
        source = cause.source();
    }
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
