//! GET /api by axum.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;

const GREETING: &[u8] = br#"{"greeting":"Hello World!"}"#;

async fn greet() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], GREETING)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new().route("/api", get(greet));
    let listener = rest::listener()?.tap_io(|stream| rest::send_at_once(stream));
    axum::serve(listener, router).await?;
    Ok(())
}
