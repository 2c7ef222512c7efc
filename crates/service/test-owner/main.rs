//! Starts a service and waits to be killed: `service-test-owner PLACE KIND`. It prints the server's
//! process.

use antiphon_service::{Kind, Place, Service};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, place, kind] = &words[..] else {
        return Err("usage: service-test-owner PLACE KIND".into());
    };
    let kind = Kind::named(kind).ok_or("no such kind")?;
    let service = Service::start(kind, &Place::at(place.into())?)?;
    println!("{}", service.process().unwrap_or_default());
    loop {
        std::thread::park();
    }
}
