#![expect(clippy::print_stdout, reason="profiling")]
use std::time::Instant;
use agon_desktop::*;
fn main() {
    let desktop = Desktop::start(&DesktopConfig::default()).ok();
    let Some(desktop) = desktop else { return };
    for i in 0..2000 {
        let t = Instant::now();
        match Desktop::connect(desktop.address()) {
            Ok(_) => {}
            Err(e) => { println!("connect {i} {e} {:?}; main: {:?}", t.elapsed(), desktop.screen().capture().map(drop)); break; }
        }
    }
    for i in 0..2000 {
        let t = Instant::now();
        let r = desktop.screen().watch();
        if let Err(e) = r { println!("watch {i} {e} {:?}; main: {:?}", t.elapsed(), desktop.screen().capture().map(drop)); break; }
    }
}
