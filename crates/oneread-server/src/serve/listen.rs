//! Accepts connections, within the limit, and ends them when the server stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;

use super::error::Error;
use super::resp;
use super::shared::Shared;

/// After an error of accepting, mostly for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// A client that does not finish its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The most bytes of an HTTP request's head.
const HEAD_BYTES: usize = 64 << 10;

/// What a listener's connections speak.
#[derive(Clone)]
pub(super) enum Speaks {
    Http(axum::Router),
    Resp,
}

/// Listens on an address.
pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })
}

/// Accepts connections until the server stops. A connection holds `open` until it ends.
pub(super) async fn accept(
    listener: TcpListener,
    speaks: Speaks,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    open: Arc<Semaphore>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.stopped() => return,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(permit) = open.clone().try_acquire_owned() else {
            shared.metrics.refused("connections");
            refuse(stream, &speaks);
            continue;
        };
        // Replies are written whole, so waiting for more would only delay them.
        _ = stream.set_nodelay(true);
        tracing::debug!(%from, "connected");
        tokio::spawn(connection(stream, speaks.clone(), tls.clone(), shared.clone(), permit));
    }
}

/// Tells a client that there are too many, if it can be told without waiting.
fn refuse(stream: TcpStream, speaks: &Speaks) {
    let answer: &[u8] = match speaks {
        Speaks::Http(_) => {
            b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        }
        Speaks::Resp => b"-ERR max number of clients reached\r\n",
    };
    _ = stream.try_write(answer);
}

async fn connection(
    stream: TcpStream,
    speaks: Speaks,
    tls: Option<TlsAcceptor>,
    shared: Arc<Shared>,
    _permit: OwnedSemaphorePermit,
) {
    let _counted = shared.metrics.connected();
    let done = match tls {
        None => speak(stream, speaks, &shared).await,
        Some(tls) => match timeout(HANDSHAKE, tls.accept(stream)).await {
            Ok(Ok(stream)) => speak(stream, speaks, &shared).await,
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        },
    };
    if let Err(error) = done {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn speak<S>(stream: S, speaks: Speaks, shared: &Shared) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match speaks {
        Speaks::Resp => resp::serve(stream, shared).await,
        Speaks::Http(router) => http(stream, router, shared).await,
    }
}

async fn http<S>(stream: S, router: axum::Router, shared: &Shared) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut stream = TimeoutStream::new(stream);
    // For clients that do not read their answers.
    stream.set_write_timeout(Some(shared.limits.request_time));
    let mut stream = Box::pin(stream);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Also ends connections that are idle.
        .header_read_timeout(shared.limits.idle_time.min(shared.limits.request_time))
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream.as_mut()), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let done = tokio::select! {
        done = connection.as_mut() => done,
        () = shared.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    done.map_err(io::Error::other)?;
    stream.shutdown().await
}
