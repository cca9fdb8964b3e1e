#![allow(dead_code, unreachable_pub)]
#[path = "desktop/probe.rs"]
mod probe;
#[path = "desktop/listen.rs"]
mod listen;

/// Until the window manager answers.
#[allow(clippy::disallowed_methods)]
pub fn wake(desktop: &agon_desktop::Desktop) {
    use x11rb::protocol::xproto::*; use x11rb::connection::Connection as _;
    let p = probe::Probe::hidden(desktop, agon_desktop::Rect{x:0,y:0,width:1,height:1});
    let ask = p.atom("_NET_REQUEST_FRAME_EXTENTS"); let prop = p.atom("_NET_FRAME_EXTENTS");
    let root = p.x.setup().roots[0].root;
    for _ in 0..2000 {
        let e = ClientMessageEvent::new(32, p.window, ask, [0u32;5]);
        p.x.send_event(false, root, EventMask::SUBSTRUCTURE_NOTIFY|EventMask::SUBSTRUCTURE_REDIRECT, e).unwrap().check().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10));
        if p.x.get_property(false, p.window, prop, AtomEnum::CARDINAL, 0, 4).unwrap().reply().unwrap().value_len > 0 { return; }
    }
    panic!("no answer");
}

/// Scratch only: gets around the wait in desktop.rs that misses its event.
pub fn start() -> agon_desktop::Desktop {
    let config = agon_desktop::DesktopConfig { start: std::time::Duration::from_secs(3), ..Default::default() };
    for _ in 0..10 {
        if let Ok(desktop) = agon_desktop::Desktop::start(&config) { wake(&desktop); return desktop; }
        eprintln!("RETRIED START");
    }
    panic!("never started");
}
