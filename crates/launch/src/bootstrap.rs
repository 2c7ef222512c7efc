//! The bootstrap of the started processes, and their launch infos.

use crate::{Launch, LaunchError};
use antiphon_panda::platform::{self, LaunchInfo, Rank, Secret, shm, udp};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The platforms over which a program can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Processes of this host, over shared memory.
    Shm,
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
    /// Open MPI.
    Mpi,
}

impl Over {
    /// Returns the platform's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Mpi => "mpi",
        }
    }
}

/// The meeting place of a session's processes, held while they run.
pub enum Bootstrap {
    Shm(shm::Bootstrap),
    Connections(platform::Bootstrap),
    Udp(udp::Bootstrap),
}

impl Bootstrap {
    /// Makes a bootstrap at this host's address.
    pub fn new(launch: &Launch, own: IpAddr) -> Result<Self, LaunchError> {
        Self::make(launch, SocketAddr::new(own, 0)).map_err(|source| LaunchError::Session {
            over: launch.over.name(),
            source,
        })
    }

    fn make(launch: &Launch, own: SocketAddr) -> io::Result<Self> {
        let secret = Secret::fresh()?;
        match launch.over {
            Over::Shm => shm::Bootstrap::new(launch.count, secret).map(Self::Shm),
            // Over Open MPI it is for later processes, which use connections.
            Over::Tcp | Over::Mpi => {
                platform::Bootstrap::hold(own, launch.count, secret).map(Self::Connections)
            }
            Over::Udp => {
                let bootstrap = udp::Bootstrap::at(own, launch.count, secret)?;
                Ok(Self::Udp(match launch.faults {
                    Some(faults) => bootstrap.with_faults(faults),
                    None => bootstrap,
                }))
            }
        }
    }

    /// Notes that a process has ended. Processes that join later do not look for it, and those that
    /// wait for it are told.
    pub fn ended(&self, rank: Rank) {
        match self {
            Self::Shm(bootstrap) => bootstrap.ended(rank),
            Self::Connections(bootstrap) => bootstrap.ended(rank),
            Self::Udp(bootstrap) => bootstrap.ended(rank),
        }
    }

    pub fn launch_info(&self, over: Over, rank: Rank) -> LaunchInfo {
        match self {
            Self::Shm(bootstrap) => bootstrap.launch_info(rank),
            Self::Connections(bootstrap) => bootstrap.launch_info(over.name(), rank),
            Self::Udp(bootstrap) => bootstrap.launch_info(rank),
        }
    }
}
