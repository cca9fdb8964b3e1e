#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason="profiling")]
use std::process::{Command, Child};
use std::time::{Duration, Instant};
use agon_desktop::screen::*;
use agon_desktop::*;

fn p50(name: &str, n: usize, mut f: impl FnMut()) {
    let mut v: Vec<f64> = (0..n).map(|_| { let t = Instant::now(); f(); t.elapsed().as_secs_f64()*1e3 }).collect();
    v.sort_by(f64::total_cmp);
    println!("{name:40} p50 {:.3} ms  p95 {:.3}  min {:.3}", v[n/2], v[n*95/100], v[0]);
}

fn app(desktop: &Desktop, words: &[&str]) -> Child {
    let folder = desktop.socket_folder().unwrap();
    let auth = folder.parent().unwrap().join("authority");
    Command::new("bwrap").args(["--dev-bind", "/", "/", "--tmpfs", "/tmp", "--die-with-parent", "--bind", &folder.to_string_lossy(), "/tmp/.X11-unix", "--ro-bind", &auth.to_string_lossy(), "/tmp/authority", "--setenv", "DISPLAY", ":0", "--setenv", "XAUTHORITY", "/tmp/authority", "--"]).args(words).spawn().unwrap()
}

fn cpu(pid: u32) -> f64 {
    let s = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}

fn measure(name: &str, frame: &Frame) {
    for format in [PictureFormat::Png, PictureFormat::WebP, PictureFormat::Jpeg { quality: 80 }, PictureFormat::PngSmall] {
        let n = if format == PictureFormat::PngSmall { 10 } else { 60 };
        let bytes = frame.encode(format).unwrap();
        std::fs::write(format!("/tmp/agon-shot-{name}-{format:?}.{}", format.name()), &bytes).unwrap();
        p50(&format!("{name} {format:?} {} KiB", bytes.len() / 1024), n, || { frame.encode(format).unwrap(); });
    }
    p50(&format!("{name} hash"), 60, || { std::hint::black_box(frame.hash()); });
    p50(&format!("{name} scaled 1024x768"), 60, || { std::hint::black_box(frame.scaled_to(Size::new(1024, 768))); });
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("filters") { return filters(); }
    let which = std::env::args().nth(1).unwrap_or_default();
    for size in ["1280x800", "1920x1080"] {
        let config = DesktopConfig { size: size.parse().unwrap(), ..DesktopConfig::default() };
        let _ = config;
        let display = if size == "1280x800" { ":77" } else { ":78" };
        let desktop = Desktop::connect(&DisplayAddress::Named(display.to_owned())).unwrap();
        let mut apps: Vec<Child> = Vec::new();
        let screen = desktop.screen();
        println!("== {size} stable {}", screen.stable(Duration::from_millis(300), Duration::from_secs(5)).unwrap());
        p50("raw", 300, || { screen.capture().unwrap(); });
        p50("raw cursor", 300, || { screen.capture_with(&CaptureOptions { cursor: true, ..Default::default() }).unwrap(); });
        p50("region 200x200", 300, || { screen.capture_with(&CaptureOptions { region: Some(Rect { x: 5, y: 5, width: 200, height: 200 }), ..Default::default() }).unwrap(); });
        p50("socket", 20, || { screen.capture_with(&CaptureOptions { way: Way::Socket, ..Default::default() }).unwrap(); });
        let (a, b) = (screen.capture().unwrap(), screen.capture().unwrap());
        let mut fourth = std::collections::HashMap::<u8, usize>::new();
        for p in a.pixels().chunks(4) { *fourth.entry(p[3]).or_default() += 1; }
        println!("fourth {}", fourth.len());
        p50("equal", 100, || { assert!(a == b); });
        p50("watch", 100, || { screen.watch().unwrap(); });
        if which != "stream" {
            p50("capture + png", 100, || { screen.capture().unwrap().encode(PictureFormat::Png).unwrap(); });
            measure(&format!("A-{size}"), &a);
            if which == "web" {
                apps.push(app(&desktop, &["chromium", "--no-sandbox", "--user-data-dir=/tmp/c", "--window-position=0,0", &format!("--window-size={}", size.replace('x', ",")), "file:///usr/share/doc/"]));
                std::thread::sleep(Duration::from_secs(6));
                measure(&format!("B-{size}"), &screen.capture().unwrap());
            }
        }
        if size == "1280x800" {
            apps.push(Command::new("x11perf").args(["-display", display, "-repeat", "1", "-time", "20", "-scroll500"]).spawn().unwrap());
            std::thread::sleep(Duration::from_secs(4));
            let me = std::process::id();
            let stream = screen.stream(StreamConfig { fps: 60, cursor: true, keep: 8 }).unwrap();
            let (start, cpu0) = (Instant::now(), cpu(me));
            let mut n = 0;
            while start.elapsed() < Duration::from_secs(5) { if stream.next(Duration::from_secs(1)).unwrap().is_some() { n += 1; } }
            println!("stream {n} frames in 5 s, captured {} dropped {} cpu {:.1}%", stream.captured(), stream.dropped(), (cpu(me) - cpu0) / 5.0 * 100.0);
        }
        for mut a in apps { let _ = a.kill(); let _ = a.wait(); }
    }
}

fn filters() {
    for size in ["1280x800", "1920x1080"] {
        let mut decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(format!("/tmp/agon-shot-A-{size}-Png.png")).unwrap())).read_info().unwrap();
        let mut data = vec![0; decoder.output_buffer_size().unwrap()];
        decoder.next_frame(&mut data).unwrap();
        let (w, h) = (decoder.info().width, decoder.info().height);
        use png::{Filter, DeflateCompression as D};
        for (name, filter, level) in [("fd up", Filter::Up, D::FdeflateUltraFast), ("fd sub", Filter::Sub, D::FdeflateUltraFast), ("fd adaptive", Filter::Adaptive, D::FdeflateUltraFast), ("fd paeth", Filter::Paeth, D::FdeflateUltraFast), ("1 none", Filter::NoFilter, D::Level(1)), ("1 up", Filter::Up, D::Level(1)), ("1 adaptive", Filter::Adaptive, D::Level(1)), ("2 none", Filter::NoFilter, D::Level(2)), ("4 none", Filter::NoFilter, D::Level(4)), ("6 none", Filter::NoFilter, D::Level(6)), ("6 up", Filter::Up, D::Level(6)), ("6 adaptive", Filter::Adaptive, D::Level(6)), ("9 none", Filter::NoFilter, D::Level(9))] {
            let run = || { let mut out = Vec::with_capacity(1 << 20); let mut e = png::Encoder::new(&mut out, w, h); e.set_color(png::ColorType::Rgb); e.set_depth(png::BitDepth::Eight); e.set_deflate_compression(level); e.set_filter(filter); let mut wr = e.write_header().unwrap(); wr.write_image_data(&data).unwrap(); wr.finish().unwrap(); out.len() };
            p50(&format!("{size} {name} {} KiB", run() / 1024), 15, || { run(); });
        }
    }
}
