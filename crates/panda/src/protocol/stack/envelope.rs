//! What stands before each message of a link.

use serde::{Deserialize, Serialize};

use super::{Answer, GroupId};
use crate::protocol::collective::Key;
use crate::protocol::requests::RequestId;

/// What a message is, and for whom.
#[derive(Serialize, Deserialize)]
pub(super) enum Envelope {
    Port {
        port: u64,
        tag: u32,
        receipt: Option<RequestId>,
    },
    Receipt {
        id: RequestId,
    },
    Call {
        service: u64,
        id: RequestId,
    },
    Reply {
        id: RequestId,
        kind: Answer,
    },
    Group {
        group: GroupId,
    },
    Collective {
        key: Key,
    },
    Pulse {
        asks: bool,
    },
}
