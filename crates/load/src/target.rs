//! Where load goes: a URL, and whether it may be loaded.

use crate::Error;
use std::net::{SocketAddr, ToSocketAddrs};

/// Which hosts may be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This machine's loopback addresses.
    Loopback,
    /// Any: the user has said that the host is theirs to load.
    Anywhere,
}

/// What is asked for, and of whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    address: SocketAddr,
    host: String,
    path: String,
}

impl Target {
    /// Reads `http://host[:port][/path[?query]]`, and finds the host's address once: it is that which is held against `reach` and that
    /// which is loaded, whatever the name stands for later.
    ///
    /// # Errors
    /// [`Error::Url`] and [`Error::NotLoopback`].
    pub fn parse(url: &str, reach: Reach) -> Result<Target, Error> {
        let wrong = |why: &str| Error::Url {
            url: url.to_owned(),
            why: why.to_owned(),
        };
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| wrong("it does not begin with http://"))?;
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) || url.contains('#') {
            return Err(wrong(
                "it holds what a request cannot (spaces, control or other characters, `#`)",
            ));
        }
        let (host, path) = match rest.find(['/', '?']) {
            Some(at) if rest.as_bytes()[at] == b'/' => (&rest[..at], rest[at..].to_owned()),
            Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
            None => (rest, "/".to_owned()),
        };
        if host.contains('@') {
            return Err(wrong("users and passwords are not sent"));
        }
        let with_port = match host.rsplit_once(':') {
            Some((_, port)) if !port.ends_with(']') => host.to_owned(),
            _ => format!("{host}:80"),
        };
        let mut addresses = with_port
            .to_socket_addrs()
            .map_err(|why| wrong(&why.to_string()))?;
        let address = addresses
            .next()
            .ok_or_else(|| wrong("its host has no address"))?;
        if reach == Reach::Loopback && !address.ip().to_canonical().is_loopback() {
            return Err(Error::NotLoopback {
                host: host.to_owned(),
                address: address.ip(),
            });
        }
        Ok(Target {
            address,
            host: host.to_owned(),
            path,
        })
    }

    /// The address that is loaded.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL, for messages.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// The request, as it is sent.
    pub(crate) fn request(&self, keep_alive: bool) -> Vec<u8> {
        let connection = match keep_alive {
            // HTTP/1.1 keeps connections unless told otherwise.
            true => "",
            false => "Connection: close\r\n",
        };
        format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\n{connection}\r\n",
            self.path, self.host
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let target = Target::parse("http://127.0.0.1:81/a?b=c", Reach::Loopback).unwrap();
        assert_eq!(target.address(), "127.0.0.1:81".parse().unwrap());
        assert_eq!(
            target.request(true),
            b"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n"
        );
        let target = Target::parse("http://[::1]?q", Reach::Loopback).unwrap();
        assert_eq!(target.address(), "[::1]:80".parse().unwrap());
        assert!(target.request(false).starts_with(b"GET /?q HTTP/1.1\r\n"));
        assert_eq!(target.url(), "http://[::1]/?q");
    }

    #[test]
    fn other_machines_are_refused_unless_named_as_ones_own() {
        for url in [
            "http://192.0.2.1/",
            "http://[2001:db8::1]:80/",
            "http://0.0.0.0/",
            "http://[::ffff:192.0.2.1]/",
        ] {
            let refused = Target::parse(url, Reach::Loopback);
            assert!(matches!(refused, Err(Error::NotLoopback { .. })), "{url}");
            assert!(Target::parse(url, Reach::Anywhere).is_ok(), "{url}");
        }
        assert!(Target::parse("http://[::ffff:127.0.0.1]:8080/", Reach::Loopback).is_ok());
    }

    #[test]
    fn what_is_no_url_is_refused_by_name() {
        for url in [
            "",
            "127.0.0.1:80",
            "https://127.0.0.1/",
            "http://",
            "http://127.0.0.1:99999/",
            "http://a@127.0.0.1/",
            "http://127.0.0.1/a b",
            "http://127.0.0.1/a\r\nX: y",
            "http://127.0.0.1/#a",
        ] {
            assert!(
                matches!(Target::parse(url, Reach::Anywhere), Err(Error::Url { .. })),
                "{url}"
            );
        }
    }
}
