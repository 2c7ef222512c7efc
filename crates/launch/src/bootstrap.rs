//! Where the processes that are started meet, and their launch infos.

use crate::{Launch, LaunchError};
use antiphon_panda::platform::{self, LaunchInfo, Rank, Secret, shm, udp};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// The platforms that a program can be started over.
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
    /// The platform's name.
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

/// Where the processes of a session meet; held while they run.
pub enum Bootstrap {
    Shm(shm::Bootstrap),
    Connections(platform::Bootstrap),
    Udp(udp::Bootstrap),
}

impl Bootstrap {
    /// A bootstrap at this host's address.
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
            // Over Open MPI it is for processes to come, which go over connections.
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

    /// Notes that a process has ended: processes that join later do not look for it. Over shared memory
    /// the processes see that themselves.
    pub fn ended(&self, rank: Rank) {
        match self {
            Self::Shm(_) => {}
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
