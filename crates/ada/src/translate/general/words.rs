//! The names of an object's operations and components. They must not hide names that the task uses.

use std::collections::HashSet;

use super::entry::EntryPlan;
use crate::names::Names;
use crate::translate::context::Context;

/// The names of the operations and components of an object, unused inside the task.
#[derive(Debug, Clone)]
pub(super) struct Words {
    pub accept_next: String,
    pub accept_now: String,
    pub accept_end: String,
    pub accept_failed: String,
    pub accept_requeue: String,
    pub close: String,
    pub at_rest: String,
    pub waiting: String,
    pub takes: String,
    pub take: String,
    pub release: String,
    pub finish: String,
    pub open: String,
    pub is_open: String,
    pub chosen: String,
    pub call: String,
    pub called: String,
    pub ended: String,
    pub closed: String,
    pub data: String,
    pub kept: String,
    pub way: String,
    pub failure: String,
    pub has_failed: String,
    pub occurrence: String,
    pub no_call: String,
    pub back: String,
    pub owner: String,
    pub gate_part: String,
    pub server_part: String,
    pub member: String,
}

/// Chooses the names; `literals` are those of the types outside the object.
pub(super) fn words(
    cx: &Context,
    entries: &[EntryPlan],
    (no_call, back): (String, String),
) -> Words {
    let mut taken: HashSet<String> = entries
        .iter()
        .flat_map(|e| {
            let fields = e.parameters.iter().map(|p| e.field(p));
            [e.end(), e.way(), e.member(), format!("{}_Count", e.name)]
                .into_iter()
                .chain(fields)
                .collect::<Vec<_>>()
        })
        .map(|n| Names::key(&n))
        .collect();
    let mut free = |wanted: &[&str]| {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        let name = cx.free_name(&wanted, false, &taken);
        taken.insert(Names::key(&name));
        name
    };
    Words {
        accept_next: free(&["Accept_Next", "Accept_Next_Call"]),
        accept_now: free(&["Accept_Now", "Accept_Call_Now"]),
        accept_end: free(&["Accept_End", "Accept_Call_End"]),
        accept_failed: free(&["Accept_Failed", "Accept_Call_Failed"]),
        accept_requeue: free(&["Accept_Requeue", "Accept_Call_Requeue"]),
        close: free(&["Close", "Close_Entries"]),
        at_rest: free(&["At_Rest", "Is_At_Rest"]),
        waiting: free(&["Waiting", "Waiting_For_Call"]),
        takes: free(&["Takes", "Takes_Call"]),
        take: free(&["Take", "Take_Call"]),
        release: free(&["Release", "Release_Caller"]),
        finish: free(&["Finish", "Finish_Call"]),
        open: free(&["Open", "Open_Entries"]),
        is_open: free(&["Is_Open", "Is_Entry_Open"]),
        call: free(&["Call", "Which_Call"]),
        chosen: free(&["Chosen", "Chosen_Call"]),
        called: free(&["Called", "Last_Called"]),
        ended: free(&["Ended", "Ended_Call"]),
        closed: free(&["Closed", "Is_Closed"]),
        data: free(&["Data", "Call_Data"]),
        kept: free(&["Kept", "Kept_Data"]),
        way: free(&["Way", "Way_On"]),
        failure: free(&["Failure", "Call_Failure"]),
        has_failed: free(&["Has_Failed", "Call_Has_Failed"]),
        occurrence: free(&["Occurrence", "Failing"]),
        owner: free(&["Self", "Owner"]),
        gate_part: free(&["Gate", "Calls"]),
        server_part: free(&["Server", "Worker"]),
        member: free(&["Member", "Of_Member"]),
        no_call,
        back,
    }
}
