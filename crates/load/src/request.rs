//! Parts of a request beside the path: method, further header lines and a body.

use crate::Error;

/// Content of a request to a target beside its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    method: String,
    /// Lines as they are sent, each with its end.
    lines: String,
    has_host: bool,
    body: Vec<u8>,
}

impl Default for Request {
    fn default() -> Self {
        Request {
            method: "GET".to_owned(),
            lines: String::new(),
            has_host: false,
            body: Vec::new(),
        }
    }
}

impl Request {
    /// Creates a request with this method, these header lines (`Name: value`) and this body.
    ///
    /// # Errors
    /// [`Error::Request`] for a method or a line that is no HTTP, and for lines that the generator
    /// sets itself.
    pub fn new(method: &str, headers: &[String], body: Vec<u8>) -> Result<Request, Error> {
        let wrong = |what: String, why: &str| Error::Request {
            what,
            why: why.to_owned(),
        };
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_method || method.eq_ignore_ascii_case("CONNECT") {
            let what = format!("the method `{}`", method.escape_debug());
            return Err(wrong(what, "give a word such as GET, POST, PUT or HEAD"));
        }
        let mut request = Request {
            method: method.to_ascii_uppercase(),
            body,
            ..Request::default()
        };
        for line in headers {
            let what = || format!("the header `{}`", line.escape_debug());
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| wrong(what(), "write it as `Name: value`"))?;
            let value = value.trim();
            let is_name =
                |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_name) {
                return Err(wrong(
                    what(),
                    "its name is no HTTP; write it as `Name: value`",
                ));
            }
            if value
                .bytes()
                .any(|byte| byte.is_ascii_control() && byte != b'\t')
            {
                return Err(wrong(what(), "its value holds control characters"));
            }
            let own = [
                "connection",
                "content-length",
                "transfer-encoding",
                "expect",
            ];
            if own.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(wrong(
                    what(),
                    "the generator says itself how long a body is and whether a connection stays (--no-keep-alive)",
                ));
            }
            request.has_host |= name.eq_ignore_ascii_case("host");
            request.lines.push_str(&format!("{name}: {value}\r\n"));
        }
        Ok(request)
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the bytes of the request.
    pub(crate) fn bytes(&self, host: &str, path: &str, keep_alive: bool) -> Vec<u8> {
        let host = match self.has_host {
            true => String::new(),
            false => format!("Host: {host}\r\n"),
        };
        let connection = match keep_alive {
            // HTTP/1.1 keeps connections unless told otherwise.
            true => "",
            false => "Connection: close\r\n",
        };
        // Methods that have a body have a length also where it is empty.
        let length =
            match self.body.is_empty() && !["POST", "PUT", "PATCH"].contains(&&*self.method) {
                true => String::new(),
                false => format!("Content-Length: {}\r\n", self.body.len()),
            };
        let head = format!(
            "{} {path} HTTP/1.1\r\n{host}{}{length}{connection}\r\n",
            self.method, self.lines
        );
        [head.as_bytes(), &self.body].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(method: &str, headers: &[&str], body: &str) -> Result<String, Error> {
        let headers: Vec<String> = headers.iter().map(|line| (*line).to_owned()).collect();
        let request = Request::new(method, &headers, body.as_bytes().to_vec())?;
        Ok(String::from_utf8(request.bytes("h:1", "/p", true)).unwrap())
    }

    #[test]
    fn methods_headers_and_bodies_are_sent_as_they_are_given() {
        assert_eq!(
            sent("get", &[], "").unwrap(),
            "GET /p HTTP/1.1\r\nHost: h:1\r\n\r\n"
        );
        assert_eq!(
            sent("POST", &["Content-Type:text/plain", "X-A: b:c"], "abc").unwrap(),
            "POST /p HTTP/1.1\r\nHost: h:1\r\nContent-Type: text/plain\r\nX-A: b:c\r\nContent-Length: 3\r\n\r\nabc"
        );
        assert_eq!(
            sent("PUT", &["Host: other"], "").unwrap(),
            "PUT /p HTTP/1.1\r\nHost: other\r\nContent-Length: 0\r\n\r\n"
        );
    }

    #[test]
    fn what_is_no_http_or_is_the_generators_own_is_refused_with_why() {
        for (method, header, reported) in [
            ("", "A: b", "such as GET"),
            ("GET /", "A: b", "such as GET"),
            ("GET", "no colon", "`Name: value`"),
            ("GET", "A b: c", "`Name: value`"),
            ("GET", "A: b\r\nX: y", "control characters"),
            ("GET", "content-length: 7", "how long a body is"),
            ("GET", "Connection: close", "--no-keep-alive"),
        ] {
            let refused = sent(method, &[header], "").unwrap_err().to_string();
            assert!(refused.contains(reported), "{refused}");
        }
    }
}
