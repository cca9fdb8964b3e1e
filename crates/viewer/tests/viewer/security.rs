//! Nobody gets what is not his: other files, other people's pages, other machines.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::json;

use crate::served::{Answer, Server};

const GREETING: &str =
    r#"{"trial":{"task":"files/greeting","epoch":1,"attempt":1},"verdict":"pass"}"#;

#[track_caller]
fn is_guarded(answer: &Answer) {
    let policy = answer.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "script-src 'self';",
        "style-src 'self';",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.header(name), Some(value));
    }
    assert_eq!(answer.header("access-control-allow-origin"), None);
}

#[test]
fn every_answer_carries_the_policy() {
    let server = Server::start();
    for path in [
        "/",
        "/runs/plain",
        "/runs/nothing",
        "/nothing",
        "/api/runs",
        "/api/nothing",
        "/assets/x/y.js",
        "/runs/plain/review",
        "/runs/plain/blobs/zz",
        "/api/openapi.json",
    ] {
        is_guarded(&server.get(path));
    }
    is_guarded(&server.get_with("/", &[("Host", "evil.example")]));
    is_guarded(&server.ask("POST", "/api/runs/plain/stop", &[], b"{}"));
    is_guarded(&server.ask("PUT", "/", &[], b"{}"));
    is_guarded(&server.get(&format!("/{}", "a".repeat(20_000))));
    let tag = server.get("/api/runs").header("etag").unwrap().to_owned();
    is_guarded(
        &server
            .get_with("/api/runs", &[("If-None-Match", &tag)])
            .expect(304),
    );
}

/// In each part of each address, whatever a path may be made of.
#[test]
fn no_address_leads_out_of_a_run() {
    let server = Server::start();
    std::fs::write(server.root.path().join("secret"), "TOP SECRET").unwrap();
    let outside = server.root.path().join("secret").display().to_string();
    let mut tricks: Vec<String> = [
        "..",
        ".",
        "%2e%2e",
        "..%2f..%2fsecret",
        "%2e%2e%2f%2e%2e%2fsecret",
        "..%5c..%5csecret",
        "..%252f..%252fsecret",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "plain%2f..%2fplain",
        "plain%00",
        "%00",
        "%ff%fe",
        "~",
        "%0d%0aX-Evil:%20yes",
        "plain%2frun.json",
    ]
    .map(str::to_owned)
    .to_vec();
    tricks.push(outside.replace('/', "%2f"));
    let digest = "0".repeat(64);
    for trick in &tricks {
        for path in [
            format!("/runs/{trick}"),
            format!("/runs/{trick}/live"),
            format!("/runs/{trick}/blobs/{digest}"),
            format!("/runs/plain/blobs/{trick}"),
            format!("/runs/plain/thumbs/{trick}"),
            format!("/runs/plain/trial/{trick}/greeting/1/1"),
            format!("/runs/plain/trial/files/{trick}/1/1"),
            format!("/runs/plain/trial/files/greeting/{trick}/1"),
            format!("/runs/plain/trial/files/greeting/1/{trick}"),
            format!("/api/runs/{trick}"),
            format!("/api/runs/{trick}/trials"),
            format!("/api/runs/{trick}/feed"),
            format!("/api/runs/plain/trial/{trick}/greeting/1/1"),
            format!("/api/runs/plain/trial/files/{trick}/1/1/steps"),
            format!("/api/runs/plain/trial/files/greeting/1/1/steps/{trick}"),
            format!("/api/runs/plain/trial/files/greeting/1/1/events/{trick}"),
            format!("/api/compare?run={trick}&run=plain"),
            format!("/compare/{trick}/greeting?run=plain&run=models"),
            format!("/assets/{trick}/dom.js"),
            format!("/{trick}"),
        ] {
            let answer = server.get(&path);
            assert!(
                (400..500).contains(&answer.status),
                "{path}: {}",
                answer.status
            );
            assert!(!answer.text().contains("TOP SECRET"), "{path}");
            assert!(!answer.text().contains("root:x:"), "{path}");
            assert_eq!(answer.header("x-evil"), None, "{path}");
        }
    }
}

/// A run folder of somebody else may hold links: to a text, and to pictures, which would be shown.
#[test]
fn a_link_among_the_blobs_leads_nowhere() {
    let server = Server::start();
    let picture = server.run("desktop").join("blobs");
    let picture = std::fs::read_dir(picture).unwrap().next().unwrap().unwrap();
    let picture = std::fs::read_dir(picture.path()).unwrap().next().unwrap();
    let picture = std::fs::read(picture.unwrap().path()).unwrap();
    let secrets: [&[u8]; 4] = [
        b"TOP SECRET",
        &small_png(),
        b"\xff\xd8\xff\xe0 JPEG",
        &picture,
    ];
    for (n, secret) in secrets.into_iter().enumerate() {
        let file = server.root.path().join(format!("secret-{n}"));
        std::fs::write(&file, secret).unwrap();
        let digest = format!("ab{n}").repeat(22)[..64].to_owned();
        let folder = server.run("plain").join("blobs/ab");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(&file, folder.join(&digest[2..])).unwrap();
        // A whole folder that is a link: what is found has another name than its content.
        let folder = server.root.path().join(format!("elsewhere-{n}"));
        std::fs::create_dir_all(&folder).unwrap();
        let other = format!("c{n}").repeat(32);
        std::fs::write(folder.join(&other[2..]), secret).unwrap();
        let link = server.run("plain").join(format!("blobs/c{n}"));
        std::os::unix::fs::symlink(&folder, link).unwrap();
        for digest in [digest, other] {
            for kind in ["blobs", "thumbs"] {
                let answer = server.get(&format!("/runs/plain/{kind}/{digest}"));
                assert_eq!(answer.status, 404, "{kind} {n}");
                assert_ne!(answer.body, secret, "{kind} {n}");
            }
        }
    }
}

/// A real one, which is sent as it is for being small.
fn small_png() -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2, 2);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&[200; 12]).unwrap();
    writer.finish().unwrap();
    file
}

/// What an agent has written may be a page: it is never shown as one.
#[test]
fn a_blob_that_is_no_picture_is_a_download() {
    let server = Server::start();
    let blobs = server.run("plain").join("blobs");
    let page = b"<script>alert(1)</script>";
    let digest = agon_core::Digest::of(page).to_hex();
    std::fs::create_dir_all(blobs.join(&digest[..2])).unwrap();
    std::fs::write(blobs.join(&digest[..2]).join(&digest[2..]), page).unwrap();
    let answer = server
        .get(&format!("/runs/plain/blobs/{digest}"))
        .expect(200);
    assert_eq!(
        answer.header("content-type"),
        Some("application/octet-stream")
    );
    assert_eq!(answer.header("content-disposition"), Some("attachment"));
}

/// A name that leads to this machine, but is a stranger's.
#[test]
fn strangers_names_are_refused() {
    let server = Server::start();
    let port = server.served.address.port();
    for host in [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("0.0.0.0:{port}"),
        String::new(),
    ] {
        for path in ["/", "/api/runs", "/runs/plain"] {
            let answer = server.get_with(path, &[("Host", &host)]);
            assert_eq!(answer.status, 403, "{host}");
            assert!(!answer.text().contains("greeting"));
        }
    }
    let twice = [("Host", "localhost"), ("Host", "evil.example")];
    server.get_with("/", &twice).expect(400);
    server.send(b"GET / HTTP/1.0\r\n\r\n").expect(400);
    for host in [format!("localhost:{port}"), "[::1]".to_owned()] {
        server.get_with("/", &[("Host", &host)]).expect(200);
    }
}

/// Whatever another page can make a browser send.
#[test]
fn other_pages_change_nothing() {
    let server = Server::start();
    let token = server.token();
    let own = format!("http://{}", server.host());
    let path = "/api/runs/plain/reviews";
    let json = ("Content-Type", "application/json");
    let shown = ("X-Agon-Token", token.as_str());
    let wrong = "0".repeat(token.len());
    let cases: &[&[(&str, &str)]] = &[
        &[],
        &[json],
        &[shown],
        &[json, ("X-Agon-Token", "")],
        &[json, ("X-Agon-Token", &wrong)],
        &[json, ("Cookie", &format!("agon-token={token}"))],
        &[("Content-Type", "text/plain"), shown],
        &[("Content-Type", "application/x-www-form-urlencoded"), shown],
        &[("Content-Type", "multipart/form-data; boundary=x"), shown],
        &[json, shown, ("Origin", "http://evil.example")],
        &[json, shown, ("Origin", "null")],
        &[json, shown, ("Origin", "http://localhost:1")],
        &[json, shown, ("Origin", &format!("{own}.evil.example"))],
        &[
            json,
            shown,
            ("Origin", &own),
            ("Origin", "http://evil.example"),
        ],
        &[json, shown, ("Sec-Fetch-Site", "cross-site")],
        &[json, shown, ("Sec-Fetch-Site", "same-site")],
    ];
    for headers in cases {
        let answer = server.ask("POST", path, headers, GREETING.as_bytes());
        assert_eq!(answer.status, 403, "{headers:?}");
    }
    // Nor by a method that slips past.
    for method in ["GET", "HEAD"] {
        let answer = server.ask(method, path, &[json, shown], GREETING.as_bytes());
        assert_eq!(answer.status, 405);
    }
    assert!(!server.run("plain").join("reviews.jsonl").exists());
    let fine = [
        json,
        shown,
        ("Origin", own.as_str()),
        ("Sec-Fetch-Site", "same-origin"),
    ];
    server
        .ask("POST", path, &fine, GREETING.as_bytes())
        .expect(200);
}

/// An `<img>` or a frame of any page could keep the server busy.
#[test]
fn other_pages_get_nothing_but_links() {
    let server = Server::start();
    let refused: &[&[(&str, &str)]] = &[
        &[("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Mode", "cors")],
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "no-cors"),
            ("Sec-Fetch-Dest", "image"),
        ],
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "iframe"),
        ],
    ];
    for headers in refused {
        for path in ["/", "/api/runs/plain/trials", "/runs/plain/review"] {
            let answer = server.get_with(path, headers);
            assert_eq!(answer.status, 403, "{path} {headers:?}");
            is_guarded(&answer);
        }
    }
    let fine: &[&[(&str, &str)]] = &[
        &[
            ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Mode", "navigate"),
            ("Sec-Fetch-Dest", "document"),
        ],
        &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Mode", "navigate")],
        &[
            ("Sec-Fetch-Site", "same-origin"),
            ("Sec-Fetch-Mode", "cors"),
        ],
    ];
    for headers in fine {
        server.get_with("/runs/plain", headers).expect(200);
    }
}

#[test]
fn other_machines_need_the_token() {
    let server = Server::start_at(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    assert!(server.served.wide);
    everybody_needs_the_token(&server);
    // By whatever name it is reached.
    let named = [("Host", "my-machine:7357")];
    server.get_with("/", &named).expect(200);
}

#[test]
fn who_is_on_this_machine_needs_the_token() {
    let server = Server::start();
    assert!(!server.served.wide);
    everybody_needs_the_token(&server);
}

fn everybody_needs_the_token(server: &Server) {
    let (_, token) = server.served.url.split_once("?token=").unwrap();
    for path in [
        "/",
        "/api/runs",
        "/assets/x/dom.js",
        "/?token=wrong",
        "/?token=",
    ] {
        let answer = server.get_unknown(path);
        assert_eq!(answer.status, 401, "{path}");
        is_guarded(&answer);
        assert!(!answer.text().contains(token));
    }
    let bearer = format!("Bearer {token}");
    server
        .get_with("/api/runs", &[("Authorization", &bearer)])
        .expect(200);
    server
        .get_with("/api/runs", &[("Authorization", "Bearer x")])
        .expect(401);
    // The token leaves the address at once.
    let answer = server
        .get(&format!("/runs/plain?sort=task&token={token}"))
        .expect(303);
    assert_eq!(answer.header("location"), Some("/runs/plain?sort=task"));
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"),
        "{cookie}"
    );
    let pair = cookie.split(';').next().unwrap();
    // Also out of that of somebody who has been here before.
    for said in [token, "wrong"] {
        let path = format!("/runs/plain?token={said}&sort=task");
        let answer = server.get_with(&path, &[("Cookie", pair)]).expect(303);
        assert_eq!(answer.header("location"), Some("/runs/plain?sort=task"));
    }
    let page = server.get_with("/", &[("Cookie", pair)]).expect(200);
    assert!(!page.text().contains(token));
    // Changing something needs the page's own token as well.
    let headers = [("Cookie", pair), ("Content-Type", "application/json")];
    let body = json!({}).to_string();
    server
        .ask("POST", "/api/runs/plain/stop", &headers, body.as_bytes())
        .expect(403);
    // Two slashes would lead to another server.
    let answer = server
        .get(&format!("//evil.example/?token={token}"))
        .expect(303);
    assert_eq!(answer.header("location"), Some("/evil.example/"));
}

#[test]
fn large_bodies_and_floods_of_headers_are_refused() {
    let server = Server::start();
    let token = server.token();
    let headers = [
        ("Content-Type", "application/json"),
        ("X-Agon-Token", token.as_str()),
    ];
    let large = vec![b' '; 65 << 10];
    let answer = server.ask("POST", "/api/runs/plain/reviews", &headers, &large);
    assert_eq!(answer.status, 413);
    let mut many = format!("GET / HTTP/1.1\r\nHost: {}\r\n", server.host());
    for n in 0..5000 {
        many += &format!("X-{n}: {n}\r\n");
    }
    let answer = server.send(format!("{many}\r\n").as_bytes());
    assert!(matches!(answer.status, 400 | 431), "{}", answer.status);
    let mut long = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: ", server.host()).into_bytes();
    long.extend(vec![b'x'; 1 << 20]);
    let answer = server.send(&long);
    assert!(matches!(answer.status, 400 | 431), "{}", answer.status);
    server
        .get(&format!("/?q={}", "a".repeat(20_000)))
        .expect(414);
    server.get("/").expect(200);
}
