//! What every HTTP request passes: the token, the host, the limits, the clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use tokio::time::timeout;

use super::problem;
use crate::serve::metrics::Protocol;
use crate::serve::shared::Shared;

/// How long a request waits for others to end.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) async fn guard(State(shared): State<Arc<Shared>>, request: Request<Body>, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let answer = match check(&shared, &request) {
        Some(refusal) => refusal,
        None => admit(&shared, request, next).await,
    };
    let time = start.elapsed();
    shared.metrics.answered(Protocol::Http, time, 1);
    tracing::debug!(%method, path, status = answer.status().as_u16(), micros = time.as_micros() as u64, "answered");
    answer
}

/// Refuses what needs no more thought.
fn check(shared: &Shared, request: &Request<Body>) -> Option<Response> {
    let refuse = |reason, status, what: String| {
        shared.metrics.refused(reason);
        let mut answer = problem(status, &what);
        if status == StatusCode::UNAUTHORIZED {
            answer.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Some(answer)
    };
    if shared.needs_token() {
        let given = request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let is_right = given
            .and_then(|given| given.split_at_checked("bearer ".len()))
            .is_some_and(|(scheme, token)| scheme.eq_ignore_ascii_case(b"bearer ") && shared.is_token(token));
        if !is_right {
            let what = "give the server's token: Authorization: Bearer TOKEN".to_owned();
            return refuse("token", StatusCode::UNAUTHORIZED, what);
        }
    } else if shared.is_local_and_open && !is_local(request) {
        // A page in a browser can make its own name lead to this machine.
        let what = "this server answers to localhost and IP addresses only".to_owned();
        return refuse("host", StatusCode::FORBIDDEN, what);
    }
    let most = shared.limits.request_bytes;
    let bytes = announced(request);
    if bytes.is_some_and(|bytes| bytes > most as u64) {
        let what = format!("a request has at most {most} bytes: send several");
        return refuse("bytes", StatusCode::PAYLOAD_TOO_LARGE, what);
    }
    None
}

/// The length of the body, if the client says it.
fn announced(request: &Request<Body>) -> Option<u64> {
    request.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Whether the host of a request is an address, or this machine.
fn is_local(request: &Request<Body>) -> bool {
    let host = match (request.uri().host(), request.headers().get(header::HOST)) {
        (Some(host), _) => host.to_owned(),
        (None, Some(host)) => {
            match host.to_str().ok().and_then(|host| host.parse::<axum::http::uri::Authority>().ok()) {
                Some(authority) => authority.host().to_owned(),
                None => return false,
            }
        }
        // HTTP/1.0, which browsers do not speak.
        (None, None) => return true,
    };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<std::net::IpAddr>().is_ok()
}

/// Answers a request once there is room for it.
async fn admit(shared: &Shared, request: Request<Body>, next: Next) -> Response {
    let busy = |reason| {
        shared.metrics.refused(reason);
        let mut answer =
            problem(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once: try again later");
        answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        answer
    };
    let Ok(Ok(_turn)) = timeout(PATIENCE, shared.requests.acquire()).await else { return busy("requests") };
    // A body of unknown length may have any.
    let has_body = request.headers().contains_key(header::TRANSFER_ENCODING);
    let bytes = match announced(&request) {
        Some(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
        None if has_body => shared.limits.request_bytes,
        None => 0,
    };
    let Some(_memory) = shared.memory(bytes).await else { return busy("memory") };
    match timeout(shared.limits.request_time, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => {
            shared.metrics.refused("time");
            problem(StatusCode::REQUEST_TIMEOUT, "the request took too long")
        }
    }
}
