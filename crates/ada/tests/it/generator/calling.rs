//! Random servers that call four clients. One client only receives data, one only returns data, one
//! does both, and one neither.

use super::print::{Printer, formula, var};
use super::{Accept, Maker, Rng, Server, Stmt};

/// Returns a random server that calls. In each accept, the body's value is passed, and its target
/// takes the result.
pub fn caller(rng: &mut Rng) -> Server {
    let mut maker = Maker {
        rng,
        counters: 0,
        budget: 16,
        around: vec![],
        has_nested: false,
        only_calls: true,
    };
    let mut body = vec![Stmt::Accept(maker.accept())];
    body.extend(maker.statements(2, 0));
    Server {
        body,
        counters: maker.counters,
        handles: false,
    }
}

/// The clients. Their results are compared when as many calls were answered as were made.
const CLIENTS: &str = "\
Sums    : array (0 .. 3) of Integer := (others => 1);
Answers : array (0 .. 3) of Integer := (others => 0);
pragma Atomic_Components (Answers);
Calls, Result : Integer := 0;
Done : Boolean := False;
pragma Atomic (Done);
procedure Answer (Client, X : Integer) is
begin
   Sums (Client) := (Sums (Client) * 7 + X) mod 997;
   Answers (Client) := Answers (Client) + 1;
   delay 0.0;
end Answer;
task Client_0 is
   entry E0 (X : in Integer);
end Client_0;
task Client_1 is
   entry E1 (Y : out Integer);
end Client_1;
task Client_2 is
   entry E2 (X : in Integer; Y : out Integer);
end Client_2;
task Client_3 is
   entry E3;
end Client_3;
task Server;
";

const CLIENT_BODIES: &str = "\
task body Client_0 is
   Kept : Integer;
begin
   loop
      accept E0 (X : in Integer) do
         Kept := X;
      end E0;
      Answer (0, Kept);
   end loop;
end Client_0;
task body Client_1 is
   Next : Integer := 5;
begin
   loop
      accept E1 (Y : out Integer) do
         Y := Next;
      end E1;
      Answer (1, Next);
      Next := (Next * 3 + 1) mod 997;
   end loop;
end Client_1;
task body Client_2 is
   Last : Integer := 2;
begin
   loop
      accept E2 (X : in Integer; Y : out Integer) do
         Y := (X + Last) mod 997;
         Last := X;
      end E2;
      Answer (2, Last);
   end loop;
end Client_2;
task body Client_3 is
begin
   loop
      accept E3 do
         Sums (3) := (Sums (3) * 3 + 1) mod 997;
      end E3;
      Answer (3, 1);
   end loop;
end Client_3;
";

/// Returns a whole program of servers that call, each in a procedure with its clients.
pub fn calling_program(name: &str, servers: &[Server]) -> String {
    let mut p = Printer::new(0, true);
    p.line("with Ada.Text_IO; use Ada.Text_IO;");
    p.line(format!("procedure {name} is"));
    for (number, server) in servers.iter().enumerate() {
        p.nested(|p| p.calling(number, server));
    }
    p.line("begin");
    p.nested(|p| (0..servers.len()).for_each(|n| p.line(format!("P{n};"))));
    p.line(format!("end {name};"));
    p.out
}

impl Printer {
    /// Prints a call of the client whose number is the entry's.
    pub(super) fn client_call(&mut self, accept: &Accept) {
        let Some(body) = &accept.body else { return };
        let (value, target) = (formula(&body.value), var(body.target));
        let actuals = match accept.entry {
            0 => format!(" ({value})"),
            1 => format!(" ({target})"),
            2 => format!(" (Y => {target}, X => {value})"),
            _ => String::new(),
        };
        self.line(format!("Client_{0}.E{0}{actuals};", accept.entry));
        self.line("Made := Made + 1;");
    }

    fn calling(&mut self, number: usize, server: &Server) {
        self.line(format!("procedure P{number} is"));
        self.nested(|p| {
            CLIENTS.lines().for_each(|l| p.line(l));
            p.line("task body Server is");
            p.nested(|p| {
                p.line("A : Integer := 1;");
                p.line("B : Integer := 2;");
                p.line("Made : Integer := 0;");
                (1..=server.counters).for_each(|n| p.line(format!("N{n} : Integer := 0;")));
            });
            p.line("begin");
            p.nested(|p| {
                p.all(&server.body);
                p.line("Result := A * 1000 + B;");
                p.line("Calls := Made;");
                p.line("Done := True;");
            });
            p.line("end Server;");
            CLIENT_BODIES.lines().for_each(|l| p.line(l));
        });
        self.line("begin");
        self.nested(|p| {
            p.line("while not Done");
            p.line("  or else Answers (0) + Answers (1) + Answers (2) + Answers (3) < Calls");
            p.line("loop");
            p.nested(|p| p.line("delay 0.001;"));
            p.line("end loop;");
            p.line("abort Client_0, Client_1, Client_2, Client_3;");
            p.line(format!(
                "Put_Line (\"server {number}\" & Integer'Image (Result) & Integer'Image (Calls));"
            ));
            p.line("for Sum of Sums loop");
            p.nested(|p| p.line("Put_Line (Integer'Image (Sum));"));
            p.line("end loop;");
        });
        self.line(format!("end P{number};"));
    }
}
