//! A server with the least possible cost a request, with one read and one write.

use rustix::event::epoll::{self, Event, EventData, EventFlags};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n{\"greeting\":\"Hello World!\"}";

/// Starts it on a processor, and gives its port.
pub fn start(processor: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let port = listener.local_addr().expect("its address").port();
    std::thread::spawn(move || {
        let mut set = rustix::thread::CpuSet::new();
        set.set(processor);
        rustix::thread::sched_setaffinity(None, &set).expect("the server's processor");
        serve(&listener);
    });
    port
}

/// Accepts and answers by turns. It assumes that a request arrives whole, which holds for this
/// benchmark.
fn serve(listener: &TcpListener) {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an epoll");
    let watch = |socket: &dyn std::os::fd::AsFd, number: u64| {
        epoll::add(
            &epoll,
            socket.as_fd(),
            EventData::new_u64(number),
            EventFlags::IN,
        )
        .expect("a place in the epoll");
    };
    listener
        .set_nonblocking(true)
        .expect("a listener that does not wait");
    watch(listener, 0);
    let mut streams: Vec<Option<TcpStream>> = vec![None];
    let nothing = Event {
        flags: EventFlags::empty(),
        data: EventData::new_u64(0),
    };
    let mut events = vec![nothing; 512];
    let mut piece = [0; 2048];
    loop {
        let count = epoll::wait(&epoll, &mut events[..], None).unwrap_or(0);
        for event in &events[..count] {
            let number = event.data.u64() as usize;
            if number == 0 {
                while let Ok((stream, _)) = listener.accept() {
                    stream.set_nodelay(true).expect("a stream without delay");
                    watch(&stream, streams.len() as u64);
                    streams.push(Some(stream));
                }
                continue;
            }
            let Some(stream) = &mut streams[number] else {
                continue;
            };
            match stream.read(&mut piece) {
                Ok(size) if size > 0 && stream.write_all(ANSWER).is_ok() => {}
                _ => streams[number] = None,
            }
        }
    }
}
