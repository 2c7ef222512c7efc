//! Target of load: a URL, with the permission to load it.

use crate::error::lack_help;
use crate::settings::check_time_limit;
use crate::{Error, Request};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Hosts that may be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// This machine's loopback addresses.
    Loopback,
    /// Any: the user has said that the host is theirs to load.
    Anywhere,
}

/// Request with its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Addresses of the host, in the system's order; the first is loaded.
    addresses: Vec<SocketAddr>,
    host: String,
    path: String,
    request: Request,
}

impl Target {
    /// Reads `http://host[:port][/path[?query]]`, and resolves the host's addresses once.
    ///
    /// The addresses are checked against `reach`, and one of them is loaded. A later meaning of the
    /// name does not matter.
    ///
    /// # Errors
    /// [`Error::Url`] and [`Error::NotLoopback`].
    pub fn parse(url: &str, reach: Reach) -> Result<Target, Error> {
        let wrong = |why: &str| Error::Url {
            url: url.to_owned(),
            why: why.to_owned(),
        };
        if url.starts_with("https://") {
            return Err(wrong(
                "TLS is not spoken here; load the server's own port, behind what ends TLS",
            ));
        }
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
        let addresses = with_port
            .to_socket_addrs()
            .map_err(|why| wrong(&why.to_string()))?;
        let mut addresses: Vec<SocketAddr> = addresses.collect();
        addresses.dedup();
        if addresses.is_empty() {
            return Err(wrong("its host has no address"));
        }
        let elsewhere = |address: &&SocketAddr| !address.ip().to_canonical().is_loopback();
        if reach == Reach::Loopback
            && let Some(address) = addresses.iter().find(elsewhere)
        {
            return Err(Error::NotLoopback {
                host: host.to_owned(),
                address: address.ip(),
            });
        }
        Ok(Target {
            addresses,
            host: host.to_owned(),
            path,
            request: Request::default(),
        })
    }

    /// Replaces the plain GET by another request.
    #[must_use]
    pub fn asked(self, request: Request) -> Target {
        Target { request, ..self }
    }

    /// Tries the host's addresses in their order, and keeps the first that accepts a connection.
    ///
    /// A name may stand for `::1` and `127.0.0.1`, while a server listens on one of them.
    ///
    /// # Errors
    /// [`Error::Unreachable`] with each address, if none accepts within the limit, and
    /// [`Error::Setting`], if that is no time limit.
    pub fn reached(mut self, limit: Duration) -> Result<Target, Error> {
        check_time_limit(limit)?;
        let until = Instant::now() + limit;
        let mut tried = Vec::new();
        for (index, address) in self.addresses.iter().enumerate() {
            // One that never answers leaves time for the others.
            let left = until.saturating_duration_since(Instant::now());
            let rest = (self.addresses.len() - index) as u32;
            let time = (left / rest).max(Duration::from_millis(1));
            match TcpStream::connect_timeout(address, time) {
                Ok(_) => {
                    self.addresses.swap(0, index);
                    return Ok(self);
                }
                Err(source) if lack_help(&source).is_some() => {
                    return Err(Error::System {
                        doing: "opening the first connection",
                        source,
                    });
                }
                Err(why) => tried.push(format!("{address}: {why}")),
            }
        }
        Err(Error::Unreachable {
            url: self.url(),
            tried: tried.join("; "),
        })
    }

    /// Returns the loaded address.
    pub fn address(&self) -> SocketAddr {
        self.addresses[0]
    }

    /// Returns the request that is sent to it.
    pub fn sends(&self) -> &Request {
        &self.request
    }

    /// Checks whether answers have no body, as those to HEAD.
    pub(crate) fn asks_for_heads(&self) -> bool {
        self.request.method() == "HEAD"
    }

    /// Returns the URL, for messages.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.host, self.path)
    }

    /// Returns the bytes of the request.
    pub(crate) fn request(&self, keep_alive: bool) -> Vec<u8> {
        self.request.bytes(&self.host, &self.path, keep_alive)
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
    fn of_several_addresses_the_one_that_listens_is_loaded_and_errors_name_all() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let open = server.local_addr().unwrap();
        let gone = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
        let closed = gone.local_addr().unwrap();
        drop(gone);
        let both = Target {
            addresses: vec![closed, open],
            ..Target::parse("http://127.0.0.1/", Reach::Loopback).unwrap()
        };
        let limit = Duration::from_secs(30);
        assert_eq!(both.clone().reached(limit).unwrap().address(), open);
        let none = Target {
            addresses: vec![closed],
            ..both
        };
        let error = none.reached(limit).unwrap_err().to_string();
        assert!(error.contains(&closed.to_string()), "{error}");
    }

    #[test]
    fn https_is_refused_with_why() {
        let error = Target::parse("https://127.0.0.1/", Reach::Loopback).unwrap_err();
        assert!(
            error.to_string().contains("TLS is not spoken here"),
            "{error}"
        );
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
