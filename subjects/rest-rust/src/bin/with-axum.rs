//! GET /api by axum, which writes the greeting as JSON from a structure.

use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde::Serialize;

#[derive(Serialize)]
struct Greeting {
    greeting: &'static str,
}

async fn greet() -> Json<Greeting> {
    Json(Greeting {
        greeting: "Hello World!",
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new().route("/api", get(greet));
    let listener = rest::listener().await?.tap_io(|stream| {
        // A stream that cannot be told so is slower, not wrong.
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}
