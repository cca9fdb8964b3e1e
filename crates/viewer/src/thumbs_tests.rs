//! Small pictures of real ones, and of things that only look like pictures.

use std::fs::File;

use jpeg_encoder::ColorType as JpegColour;

use super::*;

fn picture(width: u32, height: u32, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Pixels {
    let at = |y| (0..width).map(move |x| (x, y));
    let rgb = (0..height)
        .flat_map(at)
        .flat_map(|(x, y)| pixel(x, y))
        .collect();
    Pixels { width, height, rgb }
}

struct Shelf {
    root: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn folder(&self) -> RunFolder {
        RunFolder::at(self.root.path().join("run"))
    }

    fn put_as(&self, blob: Digest, bytes: &[u8]) -> Digest {
        let path = self.folder().blob(&blob);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        blob
    }

    fn put(&self, bytes: &[u8]) -> Digest {
        self.put_as(Digest::of(bytes), bytes)
    }

    fn thumb(&self, blob: &Digest) -> Result<Thumb, ViewerError> {
        thumb(&self.cache(), &self.folder(), blob)
    }

    fn kept(&self, blob: &Digest) -> bool {
        place(&self.cache(), blob).exists()
    }
}

fn decoded(thumb: &Thumb) -> Pixels {
    match thumb.content_type {
        "image/webp" => Kind::WebP.decode(&thumb.bytes).unwrap(),
        _ => Kind::Png.decode(&thumb.bytes).unwrap(),
    }
}

#[test]
fn a_screen_is_made_small_once() {
    let shelf = Shelf::new();
    let large = picture(1280, 800, |x, y| [(x / 5) as u8, (y / 4) as u8, 99]);
    for file in [png(&large).unwrap(), webp(&large).unwrap()] {
        let blob = shelf.put(&file);
        let first = shelf.thumb(&blob).unwrap();
        let small = decoded(&first);
        assert_eq!((small.width, small.height), (320, 200));
        assert!(shelf.kept(&blob));
        // From here on without the picture.
        fs::remove_file(shelf.folder().blob(&blob)).unwrap();
        let second = shelf.thumb(&blob).unwrap();
        assert_eq!(second.bytes, first.bytes);
        assert_eq!(second.content_type, first.content_type);
    }
}

#[test]
fn every_pixel_is_the_mean_of_those_it_stands_for() {
    let checkers = picture(640, 4, |x, y| [if (x + y) % 2 == 0 { 100 } else { 200 }; 3]);
    let small = shrink(&checkers);
    assert_eq!((small.width, small.height), (320, 2));
    assert!(small.rgb.iter().all(|value| *value == 150));
    // Sides that do not divide evenly lose no pixel and take none twice.
    let flat = shrink(&picture(1023, 767, |_, _| [7, 8, 9]));
    assert_eq!((flat.width, flat.height), (320, 239));
    assert!(flat.rgb.chunks_exact(3).all(|pixel| pixel == [7, 8, 9]));
    let tall = shrink(&picture(3, 16_000, |_, _| [1, 2, 3]));
    assert_eq!((tall.width, tall.height), (1, 640));
    let wide = shrink(&picture(16_000, 3, |_, _| [1, 2, 3]));
    assert_eq!((wide.width, wide.height), (320, 1));
}

fn jpeg(pixels: &Pixels, colour: JpegColour, progressive: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut file, 90);
    encoder.set_progressive(progressive);
    let grey: Vec<u8> = pixels.rgb.iter().step_by(3).copied().collect();
    let data = match colour {
        JpegColour::Luma => &grey,
        _ => &pixels.rgb,
    };
    let (width, height) = (pixels.width as u16, pixels.height as u16);
    encoder.encode(data, width, height, colour).unwrap();
    file
}

#[test]
fn a_jpeg_is_made_small_however_it_is_written() {
    let shelf = Shelf::new();
    // Left and right are of another grey.
    let large = picture(1280, 800, |x, _| [if x < 640 { 40 } else { 200 }; 3]);
    for (colour, progressive) in [
        (JpegColour::Rgb, false),
        (JpegColour::Rgb, true),
        (JpegColour::Luma, false),
    ] {
        let file = jpeg(&large, colour, progressive);
        let blob = shelf.put(&file);
        let made = shelf.thumb(&blob).unwrap();
        assert!(made.bytes.len() < file.len() && shelf.kept(&blob));
        let small = decoded(&made);
        assert_eq!((small.width, small.height), (320, 200));
        let near = |x: usize, wanted: u8| small.rgb[(100 * 320 + x) * 3].abs_diff(wanted) < 4;
        assert!(near(80, 40) && near(240, 200), "{colour:?} {progressive}");
    }
}

#[test]
fn a_jpeg_that_promises_too_much_takes_no_memory() {
    let shelf = Shelf::new();
    let file = jpeg(&picture(640, 480, |_, _| [9; 3]), JpegColour::Rgb, true);
    let frame = file.windows(2).position(|two| two == [0xff, 0xc2]).unwrap();
    // Height and width of the frame, after its length and depth.
    for (size, told) in [
        ([0xff; 4], "65535"),
        ([0x40, 0, 0x40, 0], "16384 x 16384"),
        ([0; 4], ""),
    ] {
        let mut huge = file.clone();
        huge[frame + 5..frame + 9].copy_from_slice(&size);
        let why = shelf.thumb(&shelf.put(&huge)).unwrap_err().to_string();
        assert!(
            why.contains("can't be decoded") && why.contains(told),
            "{why}"
        );
    }
    // One that goes over its pixels again and again.
    let scan = file
        .windows(2)
        .rposition(|two| two == [0xff, 0xda])
        .unwrap();
    let (rest, end) = (&file[scan..file.len() - 2], &file[file.len() - 2..]);
    let endless = [&file[..scan], &rest.repeat(200), end].concat();
    let why = shelf.thumb(&shelf.put(&endless)).unwrap_err().to_string();
    assert!(why.contains("scans"), "{why}");
}

proptest::proptest! {
    /// Whatever comes of it, it comes to an end, and is told.
    #[test]
    fn a_jpeg_that_is_damaged_harms_nobody(
        places in proptest::collection::vec((0usize..20_000, proptest::num::u8::ANY), 1..20),
        progressive: bool,
    ) {
        let whole = picture(64, 48, |x, y| [(x * y) as u8, x as u8, y as u8]);
        let mut file = jpeg(&whole, JpegColour::Rgb, progressive);
        for (place, byte) in places {
            let place = 3 + place % (file.len() - 3);
            file[place] = byte;
        }
        if let Ok(pixels) = Kind::Jpeg.decode(&file) {
            let size = pixels.width as usize * pixels.height as usize * 3;
            proptest::prop_assert_eq!(pixels.rgb.len(), size);
        }
    }
}

#[test]
fn what_is_small_is_sent_as_it_is() {
    let shelf = Shelf::new();
    let pixels = picture(100, 50, |_, _| [1, 2, 3]);
    let small = png(&pixels).unwrap();
    let other = jpeg(&pixels, JpegColour::Rgb, false);
    for (file, content_type) in [(small, "image/png"), (other, "image/jpeg")] {
        let sent = shelf.thumb(&shelf.put(&file)).unwrap();
        assert_eq!((sent.content_type, sent.bytes), (content_type, file));
    }
}

#[test]
fn what_is_no_picture_is_refused() {
    let shelf = Shelf::new();
    let whole = png(&picture(640, 480, |x, _| [x as u8; 3])).unwrap();
    let torn = &whole[..whole.len() / 2];
    let mut huge = whole.clone();
    // Width and height of the header; its check sum no longer holds, either.
    huge[16..24].fill(0xff);
    let files: [&[u8]; 7] = [
        b"",
        b"<svg onload=alert(1)>",
        b"\x89PNG\r\n\x1a\n",
        b"RIFF\x10\0\0\0WEBPVP8L",
        b"\xff\xd8\xff\xe0 what?",
        torn,
        &huge,
    ];
    for file in files {
        let blob = shelf.put(file);
        assert!(matches!(shelf.thumb(&blob), Err(ViewerError::NotFound(_))));
        assert!(!shelf.kept(&blob));
    }
    assert!(shelf.thumb(&Digest::of(b"not there")).is_err());
}

#[test]
fn a_picture_under_the_name_of_another_is_neither_sent_nor_kept() {
    let shelf = Shelf::new();
    let large = png(&picture(640, 480, |_, _| [9; 3])).unwrap();
    let small = png(&picture(64, 48, |_, _| [9; 3])).unwrap();
    for (name, forged) in [("a", &large[..]), ("b", &small), ("c", b"\xff\xd8\xff\xe0")] {
        let blob = shelf.put_as(Digest::of(name.as_bytes()), forged);
        assert!(matches!(shelf.thumb(&blob), Err(ViewerError::NotFound(_))));
        assert!(!shelf.kept(&blob));
    }
}

/// Even to the very picture: what is behind a link may be another one a moment later.
#[test]
fn a_link_is_not_followed() {
    let shelf = Shelf::new();
    let file = png(&picture(64, 48, |_, _| [9; 3])).unwrap();
    let blob = shelf.put(&file);
    let elsewhere = shelf.root.path().join("elsewhere");
    fs::rename(shelf.folder().blob(&blob), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, shelf.folder().blob(&blob)).unwrap();
    assert!(matches!(shelf.thumb(&blob), Err(ViewerError::NotFound(_))));
}

/// Two large ones at once wait for each other, and one of them for nobody.
#[test]
fn large_files_are_read_one_at_a_time() {
    let shelf = Shelf::new();
    let mut large = png(&picture(64, 48, |_, _| [9; 3])).unwrap();
    large.resize(LARGE + 1, 0);
    let blob = shelf.put(&large);
    let alone = lock(&ONE_LARGE);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| shelf.thumb(&blob).map(|_| ()));
        // Taken away before its turn comes: who had read it already would not miss it.
        let folder = shelf.folder();
        fs::write(folder.blob(&blob), b"another").unwrap();
        drop(alone);
        let why = waiting.join().unwrap().unwrap_err().to_string();
        assert!(why.contains("changed"), "{why}");
    });
    // A small picture, in a file too large to be sent as it is.
    let blob = shelf.put(&large);
    let why = shelf.thumb(&blob).unwrap_err().to_string();
    assert!(why.contains("too large"), "{why}");
}

#[test]
fn a_cache_that_can_not_be_written_keeps_nobody_from_looking() {
    let shelf = Shelf::new();
    fs::write(shelf.cache(), "a file").unwrap();
    let file = png(&picture(640, 480, |_, _| [9; 3])).unwrap();
    let small = shelf.thumb(&shelf.put(&file)).unwrap();
    assert_eq!(decoded(&small).width, 320);
}

#[test]
fn the_oldest_go_first_when_there_is_no_room() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..8u64 {
        let path = folder.path().join(n.to_string());
        fs::write(&path, [0; 100]).unwrap();
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n);
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    tidy(folder.path(), 800).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 8);
    tidy(folder.path(), 600).unwrap();
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["4", "5", "6", "7"]);
}

#[test]
fn many_at_once_get_the_same() {
    let shelf = Shelf::new();
    let file = png(&picture(640, 480, |x, y| [x as u8, y as u8, 0])).unwrap();
    let blob = shelf.put(&file);
    let made: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| shelf.thumb(&blob).unwrap().bytes))
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(made.iter().all(|bytes| *bytes == made[0]));
}
