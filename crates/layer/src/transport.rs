//! Transports of the operations.

use crate::tests::{self, Test};

/// The variable that says it.
pub const VARIABLE: &str = "ANTIPHON_LAYER";

/// Transport of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Panda over a platform.
    Panda(Platform),
    /// Shared objects on panda over a platform.
    Orca(Platform),
    /// The platform itself.
    Bare(Bare),
}

/// Panda's platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Threads of one process.
    Local,
    /// Shared memory.
    Shm,
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
    /// Open MPI.
    Mpi,
}

/// Bare transport beneath the platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Two connected sockets.
    Tcp,
    /// Two sockets for datagrams.
    Udp,
    /// A page that both see, and a futex.
    Memory,
}

const KNOWN: [(&str, Transport); 13] = [
    ("local", Transport::Panda(Platform::Local)),
    ("shm", Transport::Panda(Platform::Shm)),
    ("tcp", Transport::Panda(Platform::Tcp)),
    ("udp", Transport::Panda(Platform::Udp)),
    ("mpi", Transport::Panda(Platform::Mpi)),
    ("orca-local", Transport::Orca(Platform::Local)),
    ("orca-shm", Transport::Orca(Platform::Shm)),
    ("orca-tcp", Transport::Orca(Platform::Tcp)),
    ("orca-udp", Transport::Orca(Platform::Udp)),
    ("orca-mpi", Transport::Orca(Platform::Mpi)),
    ("bare-tcp", Transport::Bare(Bare::Tcp)),
    ("bare-udp", Transport::Bare(Bare::Udp)),
    ("bare-shm", Transport::Bare(Bare::Memory)),
];

impl Transport {
    /// Reads the environment.
    pub fn of_environment() -> Result<Self, String> {
        let said = std::env::var(VARIABLE).unwrap_or_default();
        Self::of(&said).ok_or_else(|| {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            format!("{VARIABLE}={said}: give one of {}", names.join(", "))
        })
    }

    fn of(said: &str) -> Option<Self> {
        let found = KNOWN.iter().find(|(name, _)| *name == said);
        found.map(|(_, transport)| *transport)
    }

    /// Returns panda's platform; `None` where panda is not measured.
    pub fn platform(self) -> Option<Platform> {
        match self {
            Transport::Panda(platform) | Transport::Orca(platform) => Some(platform),
            Transport::Bare(_) => None,
        }
    }

    /// Returns the transport's tests.
    pub fn tests(self) -> Vec<Test> {
        match self {
            Transport::Panda(_) => tests::of_panda(),
            Transport::Orca(_) => tests::of_orca(),
            Transport::Bare(Bare::Tcp) => tests::of_tcp(),
            Transport::Bare(Bare::Udp) => tests::of_udp(),
            Transport::Bare(Bare::Memory) => tests::of_memory(),
        }
    }

    /// Returns a needed command that is missing, with its remedy.
    pub fn missing(self) -> Option<String> {
        let needs_mpi = self.platform() == Some(Platform::Mpi);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = std::env::split_paths(&path).any(|folder| folder.join("mpirun").is_file());
        (needs_mpi && !is_there).then(|| {
            "there is no `mpirun`: install Open MPI (apt-get install openmpi-bin)".to_owned()
        })
    }
}

#[cfg(test)]
mod tests_of_what {
    use super::*;

    #[test]
    fn every_name_is_known_and_others_are_not() {
        for (name, transport) in KNOWN {
            assert_eq!(Transport::of(name), Some(transport));
            assert!(!transport.tests().is_empty(), "{name}");
        }
        assert_eq!(Transport::of("carrier pigeons"), None);
    }
}
