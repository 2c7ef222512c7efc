//! A member's Raft node, with its network: the requests that members send each other over TCP.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use openraft::error::{InstallSnapshotError, NetworkError, RPCError, RaftError, RemoteError};
use openraft::network::RPCOption;
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use openraft::{BasicNode, Config, Raft, RaftNetwork, RaftNetworkFactory};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::store::{Log, Replica, Types};
use crate::wire;

/// The member that leads, which is not the one that is timed.
pub const LEADS: u64 = 1;

/// How long a group may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

type Failure<E> = RPCError<u64, BasicNode, RaftError<u64, E>>;

/// A request to a member. The answer to each is a `Result`.
#[derive(Serialize, Deserialize)]
enum Request {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Snapshot(InstallSnapshotRequest<Types>),
    /// A client's write. Its answer is the new value, or the failure in words.
    Write(u64),
}

/// Sends a client's write to the leader, and waits for the new value.
pub fn write(leader: &mut std::net::TcpStream, amount: u64) -> io::Result<u64> {
    let answer: Result<u64, String> = wire::ask(leader, &Request::Write(amount))?;
    answer.map_err(io::Error::other)
}

/// A member's Raft node.
pub struct Node {
    /// Ends all tasks of the node when it is dropped.
    runtime: Runtime,
    raft: Raft<Types>,
    replica: Replica,
}

/// Opens the port at which a member takes requests. Its address is for the others.
pub fn open() -> io::Result<(std::net::TcpListener, String)> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?.to_string();
    Ok((listener, address))
}

impl Node {
    /// Begins the node of a member, and waits until the group has its leader.
    pub fn begin(
        rank: u64,
        listener: std::net::TcpListener,
        addresses: &[String],
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let replica = Replica::default();
        let raft = runtime.block_on(begin(rank, listener, addresses, replica.clone()))?;
        Ok(Self {
            runtime,
            raft,
            replica,
        })
    }

    /// Returns the member's replica.
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Ends the node.
    pub fn end(self) {
        // It fails where it has ended by itself.
        let _ = self.runtime.block_on(self.raft.shutdown());
    }
}

async fn begin(
    rank: u64,
    listener: std::net::TcpListener,
    addresses: &[String],
    replica: Replica,
) -> io::Result<Raft<Types>> {
    let config = Config {
        cluster_name: "layer".into(),
        heartbeat_interval: 500,
        election_timeout_min: 5_000,
        election_timeout_max: 10_000,
        enable_elect: rank == LEADS,
        ..Config::default()
    };
    let config = Arc::new(config.validate().map_err(io::Error::other)?);
    let raft = Raft::new(rank, config, Peers, Log::default(), replica).await;
    let raft = raft.map_err(io::Error::other)?;
    tokio::spawn(serve(TcpListener::from_std(listener)?, raft.clone()));
    if rank == LEADS {
        let node = |(rank, address): (u64, &String)| (rank, BasicNode::new(address));
        let members: BTreeMap<_, _> = (0..).zip(addresses).map(node).collect();
        raft.initialize(members).await.map_err(io::Error::other)?;
    }
    let wait = raft.wait(Some(PATIENCE));
    let led = wait.current_leader(LEADS, "the group begins").await;
    led.map_err(io::Error::other)?;
    Ok(raft)
}

async fn serve(listener: TcpListener, raft: Raft<Types>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(connected(stream, raft.clone()))),
            Err(error) => eprintln!("a connection failed: {error}"),
        }
    }
}

async fn connected(mut stream: TcpStream, raft: Raft<Types>) {
    let answered = async {
        stream.set_nodelay(true)?;
        loop {
            answer(&mut stream, &raft).await?;
        }
    };
    let ended: io::Result<()> = answered.await;
    if let Err(error) = ended
        && error.kind() != io::ErrorKind::UnexpectedEof
        && error.kind() != io::ErrorKind::ConnectionReset
    {
        eprintln!("a request failed: {error}");
    }
}

async fn answer(stream: &mut TcpStream, raft: &Raft<Types>) -> io::Result<()> {
    match wire::receive(stream).await? {
        Request::Append(request) => wire::send(stream, &raft.append_entries(request).await).await,
        Request::Vote(request) => wire::send(stream, &raft.vote(request).await).await,
        Request::Snapshot(request) => {
            wire::send(stream, &raft.install_snapshot(request).await).await
        }
        Request::Write(amount) => {
            let written = raft.client_write(amount).await;
            let written = written
                .map(|answer| answer.data)
                .map_err(|error| error.to_string());
            wire::send(stream, &written).await
        }
    }
}

/// Makes the connections to other members.
struct Peers;

impl RaftNetworkFactory<Types> for Peers {
    type Network = Peer;

    async fn new_client(&mut self, rank: u64, node: &BasicNode) -> Peer {
        Peer {
            rank,
            address: node.addr.clone(),
            stream: None,
        }
    }
}

/// A connection to another member, made when it is needed.
struct Peer {
    rank: u64,
    address: String,
    stream: Option<TcpStream>,
}

impl Peer {
    async fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> io::Result<T> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        wire::send(&mut stream, request).await?;
        let answer = wire::receive(&mut stream).await?;
        // A connection whose request was given up is not used again.
        self.stream = Some(stream);
        Ok(answer)
    }

    async fn call<T, E>(&mut self, request: Request) -> Result<T, Failure<E>>
    where
        T: DeserializeOwned,
        E: std::error::Error + DeserializeOwned,
    {
        let answer: io::Result<Result<T, RaftError<u64, E>>> = self.ask(&request).await;
        let answer = answer.map_err(|error| NetworkError::new(&error))?;
        answer.map_err(|error| RemoteError::new(self.rank, error).into())
    }
}

impl RaftNetwork<Types> for Peer {
    async fn append_entries(
        &mut self,
        request: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Failure<openraft::error::Infallible>> {
        self.call(Request::Append(request)).await
    }

    async fn install_snapshot(
        &mut self,
        request: InstallSnapshotRequest<Types>,
        _: RPCOption,
    ) -> Result<InstallSnapshotResponse<u64>, Failure<InstallSnapshotError>> {
        self.call(Request::Snapshot(request)).await
    }

    async fn vote(
        &mut self,
        request: VoteRequest<u64>,
        _: RPCOption,
    ) -> Result<VoteResponse<u64>, Failure<openraft::error::Infallible>> {
        self.call(Request::Vote(request)).await
    }
}
