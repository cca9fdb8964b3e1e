use std::time::{Duration, Instant};
use agon_core::Environment;
use agon_core::environment::EnvironmentKind;
use agon_sandbox::*;
use std::sync::Arc;
#[tokio::main]
async fn main() {
    let exe = std::env::args().nth(1).unwrap();
    let workers: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let n: usize = 100;
    let t = Instant::now();
    let p = Arc::new(LocalProvider::new(LocalConfig{init: exe.into(), init_args: vec![]}).unwrap());
    println!("provider {:?}", t.elapsed());
    let t = Instant::now();
    let tasks: Vec<_> = (0..workers).map(|_| { let p = p.clone(); tokio::spawn(async move {
        let mut parts = [Duration::ZERO; 5];
        for _ in 0..n/workers {
            let r = Request { environment: Environment::of_kind(EnvironmentKind::Local), owner: Owner{run:"r".into(),trial:"t".into()}, read_only: vec![], start: Duration::from_secs(20)};
            let t = Instant::now();
            let mut s = p.prepare(&r).await.unwrap();
            parts[0] += t.elapsed(); let t = Instant::now();
            s.exec(&Exec::shell("echo hello > greeting.txt", Duration::from_secs(5))).await.unwrap();
            parts[1] += t.elapsed(); let t = Instant::now();
            s.freeze().await.unwrap();
            parts[2] += t.elapsed(); let t = Instant::now();
            s.destroy().await;
            parts[3] += t.elapsed();
        }
        println!("prepare exec freeze destroy {:?}", parts.map(|x| x / (n/workers) as u32));
    })}).collect();
    for t in tasks { t.await.unwrap(); }
    println!("{:.1}/s", n as f64 / t.elapsed().as_secs_f64());
    let t = Instant::now();
    drop(p);
    println!("drop {:?}", t.elapsed());
}
