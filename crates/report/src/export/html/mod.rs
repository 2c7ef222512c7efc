//! x
/// x
pub fn render(_d: &crate::document::Document) -> String {
    String::from("<!DOCTYPE html>")
}
