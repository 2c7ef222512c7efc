//! Remote procedure calls.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::core::Core;
use super::dispatcher::UnansweredCall;
use super::engine::Request;
use super::{Session, number_of, upcall};
use crate::error::{Error, Named};
use crate::message::Message;
use crate::platform::Rank;
use crate::protocol::requests::RequestId;
use crate::protocol::{Answer, Envelope};

/// A call that came.
pub struct Call {
    /// The caller.
    pub from: Rank,
    /// The arguments.
    pub payload: Message,
    /// The means to answer.
    pub reply: Reply,
}

/// The means to answer a call, at once or later, from any thread. If it is dropped, the caller gets
/// an error.
pub struct Reply {
    core: Arc<Core>,
    is_given: bool,
    to: Rank,
    id: RequestId,
}

impl Reply {
    /// Sends the reply. If it is too long for the platform, the caller learns that there is no
    /// reply.
    pub fn send(mut self, payload: impl Into<Message>) {
        let payload = payload.into();
        // The drop reports that there is no reply.
        if self.core.check_length(&payload).is_ok() {
            self.answer(Answer::Value, payload);
        }
    }

    fn answer(&mut self, kind: Answer, payload: Message) {
        let is_first = !std::mem::replace(&mut self.is_given, true);
        if is_first && self.core.check().is_ok() {
            let envelope = Envelope::Reply { id: self.id, kind };
            self.core.engine.post(self.to, envelope, payload);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.answer(Answer::NoReply, Message::new());
    }
}

impl Session {
    /// Registers a service. The upcall must not block; it may keep the [`Reply`] and answer later.
    ///
    /// # Errors
    ///
    /// The name cannot be told from that of another service of this process.
    #[track_caller]
    pub fn serve(
        &self,
        service: &str,
        mut upcall: impl FnMut(Call) + Send + 'static,
    ) -> Result<(), Error> {
        let number = self
            .core()
            .dispatcher
            .names
            .number(Named::Service, service)?;
        let (core, place) = (self.keeper.core.clone(), Location::caller());
        // The next reply's hold of the session is taken after this reply, when no caller waits for
        // that.
        let mut next = Some(core.clone());
        let upcall = move |UnansweredCall { from, id, payload }| {
            let reply = Reply {
                core: next.take().unwrap_or_else(|| core.clone()),
                is_given: false,
                to: from,
                id,
            };
            upcall(Call {
                from,
                payload,
                reply,
            });
            next = Some(core.clone());
        };
        self.core()
            .dispatcher
            .on_call(number, place, Box::new(upcall));
        self.core().engine.ensure_progress_fiber();
        Ok(())
    }

    /// Calls a service and waits for the reply. The call runs at most once; exactly once if a reply
    /// comes.
    ///
    /// # Errors
    ///
    /// The peer is lost, has no such service or gives no reply. The deadline has passed. The
    /// arguments are too long for the platform. Or this is an upcall.
    #[track_caller]
    pub fn call(
        &self,
        to: Rank,
        service: &str,
        payload: impl Into<Message>,
        deadline: Option<Duration>,
    ) -> Result<Message, Error> {
        upcall::must_not_wait()?;
        let payload = payload.into();
        self.core().check_rank(to)?;
        self.core().check_length(&payload)?;
        let request = Request::Call {
            service: number_of(service),
        };
        self.core()
            .ask_peer(to, (request, payload), service, deadline)
    }
}
