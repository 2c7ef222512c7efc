//! GET /api by hyper alone.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::time::Duration;

const GREETING: &[u8] = br#"{"greeting":"Hello World!"}"#;

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let is_api = request.method() == Method::GET && request.uri().path() == "/api";
    if !is_api {
        let mut response = Response::new(Full::new(Bytes::new()));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return Ok(response);
    }
    let mut response = Response::new(Full::new(Bytes::from_static(GREETING)));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}

fn is_of_one_client(kind: ErrorKind) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        kind,
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = rest::listener()?;
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                eprintln!("a connection was not accepted: {error}");
                if !is_of_one_client(error.kind()) {
                    // There may be no files left: as axum does, it waits for some to be closed.
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                continue;
            }
        };
        rest::send_at_once(&stream);
        tokio::spawn(async move {
            // A client that breaks off is no fault of the server's.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}
