//! Several connections at once, each with a thread of its own: an operation is a query of ten rows by each of them. The control is the same
//! without queries.

use crate::database::{own, rows_table};
use crate::driver::Connection;
use antiphon_kit::{Failure, Frames, Test, increment, start_partner, takes_part};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

const ROWS: u64 = 10;

pub fn tests() -> impl Iterator<Item = Test> {
    [1, 2, 4, 8, 16].into_iter().map(|many| {
        let name = format!("concurrent.{many}");
        let work = format!("sql.{name}");
        let test = Test::frame(name, move |_| Clients::gather(many));
        test.threads(many + 1).work(work)
    })
}

/// What every client does next.
#[derive(Clone, Copy)]
struct Order {
    iterations: u64,
    queries: bool,
}

/// A thread with a connection; it ends when nobody gives orders any more.
struct Client {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

struct Clients {
    clients: Vec<Client>,
    answers: Receiver<Result<u64, Failure>>,
}

fn serve(
    connection: &Connection,
    text: &str,
    orders: &Receiver<Order>,
    answers: &Sender<Result<u64, Failure>>,
) {
    for order in orders {
        if answers.send(work(connection, text, order)).is_err() {
            return;
        }
    }
}

fn work(connection: &Connection, text: &str, order: Order) -> Result<u64, Failure> {
    let (mut sum, mut index) = (0, 0);
    while index < order.iterations {
        takes_part("client");
        sum += match order.queries {
            true => connection.query(text, ROWS)?,
            false => index,
        };
        index = increment(index);
    }
    Ok(sum)
}

impl Clients {
    fn gather(many: u32) -> Result<Self, Failure> {
        own()?;
        let text = format!("SELECT * FROM {} LIMIT {ROWS}", rows_table()?);
        let (answer, answers) = channel();
        let start = |_| {
            let connection = Connection::open()?;
            let (text, answer) = (text.clone(), answer.clone());
            let (orders, taken) = channel();
            let thread = start_partner(move || {
                serve(&connection, &text, &taken, &answer);
                let _ = connection.close(); // nobody asks any more
            })?;
            Ok(Client { orders, thread })
        };
        let clients = (0..many).map(start).collect::<Result<_, Failure>>()?;
        Ok(Clients { clients, answers })
    }

    fn go(&self, order: Order) -> Result<u64, Failure> {
        for client in &self.clients {
            client.orders.send(order)?;
        }
        let answers: Result<Vec<_>, _> = self.clients.iter().map(|_| self.answers.recv()).collect();
        answers?.into_iter().sum()
    }
}

impl Frames for Clients {
    fn control(&mut self, iterations: u64) -> Result<u64, Failure> {
        let queries = false;
        self.go(Order {
            iterations,
            queries,
        })
    }

    fn test(&mut self, iterations: u64) -> Result<u64, Failure> {
        let queries = true;
        self.go(Order {
            iterations,
            queries,
        })
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        for Client { orders, thread } in self.clients.drain(..) {
            drop(orders);
            let _ = thread.join(); // one that panicked has said so, and there is no answer of it
        }
    }
}
