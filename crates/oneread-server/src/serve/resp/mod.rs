//! RESP, the protocol of Redis: any of its clients reads the stores.
//!
//! Commands that arrive together are answered together. Neighbouring `GET`s become one lookup of
//! many keys, and neighbouring `SET`s one batch, which is synced once.

mod answer;
mod command;
pub mod parse;
mod reply;

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::metrics::Protocol;
use super::shared::{Lent, SMALL_BYTES, Shared};
use answer::Client;
use parse::{CommandLimits, Parser};
use reply::Replies;

/// The first read of a connection; idle ones should take little memory.
const FIRST_BYTES: usize = 1 << 10;

/// Replies are sent when there are this many bytes of them.
const REPLY_BYTES: usize = 256 << 10;

/// How long a closed connection's last bytes are read.
const LINGER: Duration = Duration::from_millis(500);

/// What a client may send before `AUTH`.
const STRANGERS: CommandLimits = CommandLimits { arguments: 16, bytes: 16 << 10 };

/// A connection, with what has arrived and not been answered yet.
struct Connection<'s, S> {
    io: S,
    shared: &'s Shared,
    client: Client<'s>,
    parser: Parser,
    input: Vec<u8>,
    replies: Replies,
    /// Memory for a large command.
    lent: Option<Lent>,
}

/// Serves one connection until one side closes it.
pub(super) async fn serve<S: AsyncRead + AsyncWrite + Unpin>(io: S, shared: &Shared) -> io::Result<()> {
    let mut connection = Connection {
        io,
        shared,
        client: Client::new(shared),
        parser: Parser::new(),
        input: Vec::new(),
        replies: Replies::default(),
        lent: None,
    };
    while connection.read().await? {
        let start = Instant::now();
        let (commands, goes_on) = connection.answer().await?;
        connection.send().await?;
        if commands > 0 {
            shared.metrics.answered(Protocol::Resp, start.elapsed(), commands);
        }
        if !goes_on {
            break;
        }
    }
    connection.close().await
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<'_, S> {
    /// Waits for bytes. Returns false if there will be none, or the connection was idle for long.
    async fn read(&mut self) -> io::Result<bool> {
        let limits = self.shared.limits;
        let is_large = self.parser.needed() > SMALL_BYTES || self.input.len() >= SMALL_BYTES;
        if is_large && self.lent.is_none() {
            self.lent = self.shared.memory(limits.request_bytes).await;
            if self.lent.is_none() {
                self.replies.error("ERR too many large commands at once: try again later");
                self.send().await?;
                return Ok(false);
            }
        }
        if self.input.len() == self.input.capacity() {
            let more =
                if is_large { self.parser.needed().max(2 * SMALL_BYTES) } else { 4 * self.input.len() };
            let wanted = more.clamp(FIRST_BYTES, limits.request_bytes + SMALL_BYTES);
            self.input.reserve_exact(wanted.saturating_sub(self.input.len()).max(FIRST_BYTES));
        }
        // A command that has begun must not take its memory for long.
        let patience = if self.input.is_empty() { limits.idle_time } else { limits.request_time };
        tokio::select! {
            biased;
            read = timeout(patience, self.io.read_buf(&mut self.input)) => match read {
                Ok(read) => Ok(read? > 0),
                Err(_) => Ok(false),
            },
            () = self.shared.stopped() => Ok(false),
        }
    }

    /// Answers all whole commands that have arrived. Returns how many, and whether the connection
    /// goes on.
    async fn answer(&mut self) -> io::Result<(u64, bool)> {
        let (mut start, mut commands) = (0, 0);
        let mut goes_on = true;
        while goes_on {
            let limits = if self.client.is_known() {
                CommandLimits {
                    arguments: self.shared.limits.keys + 1,
                    bytes: self.shared.limits.request_bytes,
                }
            } else {
                STRANGERS
            };
            match self.parser.parse(&self.input[start..], limits) {
                Ok(None) => break,
                Ok(Some(length)) => {
                    let command = &self.input[start..start + length];
                    let arguments = self.parser.arguments();
                    if !arguments.is_empty() {
                        commands += 1;
                        goes_on =
                            self.client.take(command, arguments, start, &self.input, &mut self.replies).await;
                    }
                    start += length;
                }
                Err(malformed) => {
                    self.client.finish(&self.input, &mut self.replies).await;
                    self.replies.error(malformed.message());
                    goes_on = false;
                }
            }
            if self.replies.bytes.len() >= REPLY_BYTES {
                self.send().await?;
            }
        }
        self.client.finish(&self.input, &mut self.replies).await;
        self.input.drain(..start);
        if self.input.is_empty() {
            self.lent = None;
            if self.input.capacity() > SMALL_BYTES {
                self.input = Vec::new();
            }
        }
        Ok((commands, goes_on))
    }

    /// Closes the connection. What still arrives is read for a moment: closed before, the system
    /// would take back replies that the client has not read.
    async fn close(mut self) -> io::Result<()> {
        self.io.shutdown().await?;
        let rest = async {
            loop {
                self.input.clear();
                self.input.reserve(FIRST_BYTES);
                if self.io.read_buf(&mut self.input).await? == 0 {
                    return Ok(());
                }
            }
        };
        timeout(LINGER, rest).await.unwrap_or(Ok(()))
    }

    /// Sends the replies. A client that does not read them is left.
    async fn send(&mut self) -> io::Result<()> {
        if self.replies.bytes.is_empty() {
            return Ok(());
        }
        let all = async {
            self.io.write_all(&self.replies.bytes).await?;
            self.io.flush().await
        };
        timeout(self.shared.limits.request_time, all).await??;
        self.replies.bytes.clear();
        if self.replies.bytes.capacity() > REPLY_BYTES {
            self.replies.bytes = Vec::new();
        }
        Ok(())
    }
}
