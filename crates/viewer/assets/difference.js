// Two pictures, and where they differ: changed pixels are shown in colour on a faded picture, with boxes
// around them. Where a page may not read its own pictures (opened from a disk), the browser subtracts them.

const TILE = 16;
const ENOUGH = 24;

function pixels(image, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const drawing = canvas.getContext("2d", {willReadFrequently: true});
  drawing.drawImage(image, 0, 0);
  return drawing.getImageData(0, 0, width, height);
}

// Boxes around tiles that touch each other.
function boxes(touched, columns, rows) {
  const seen = new Uint8Array(touched.length);
  const found = [];
  for (let start = 0; start < touched.length; start++) {
    if (!touched[start] || seen[start]) continue;
    let [left, right, top, bottom] = [columns, 0, rows, 0];
    const open = [start];
    seen[start] = 1;
    while (open.length) {
      const tile = open.pop();
      const x = tile % columns;
      const y = (tile - x) / columns;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          const [nx, ny] = [x + dx, y + dy];
          if (nx < 0 || ny < 0 || nx >= columns || ny >= rows) continue;
          const next = ny * columns + nx;
          if (touched[next] && !seen[next]) {
            seen[next] = 1;
            open.push(next);
          }
        }
      }
    }
    found.push({x: left * TILE, y: top * TILE, width: (right - left + 1) * TILE, height: (bottom - top + 1) * TILE});
  }
  return found;
}

function subtracted(canvas, before, after) {
  const drawing = canvas.getContext("2d");
  drawing.drawImage(before, 0, 0);
  drawing.globalCompositeOperation = "difference";
  drawing.drawImage(after, 0, 0);
  drawing.globalCompositeOperation = "source-over";
  return null;
}

// Draws the difference; returns {changed, boxes} or null where pixels can't be counted.
export function difference(canvas, before, after) {
  const width = Math.max(before.naturalWidth, after.naturalWidth);
  const height = Math.max(before.naturalHeight, after.naturalHeight);
  canvas.width = width;
  canvas.height = height;
  let a;
  let b;
  try {
    a = pixels(before, width, height).data;
    b = pixels(after, width, height);
  } catch {
    return subtracted(canvas, before, after);
  }
  const now = b.data;
  const columns = Math.ceil(width / TILE);
  const rows = Math.ceil(height / TILE);
  const touched = new Uint8Array(columns * rows);
  let changed = 0;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) {
      const away = Math.abs(a[i] - now[i]) + Math.abs(a[i + 1] - now[i + 1]) + Math.abs(a[i + 2] - now[i + 2]);
      if (away > ENOUGH) {
        changed++;
        touched[((y / TILE) | 0) * columns + ((x / TILE) | 0)] = 1;
        // Towards magenta, so that what stands there can still be read.
        now[i] = (now[i] + 3 * 226) >> 2;
        now[i + 1] = now[i + 1] >> 2;
        now[i + 2] = (now[i + 2] + 3 * 140) >> 2;
      } else {
        const grey = (now[i] * 77 + now[i + 1] * 150 + now[i + 2] * 29) >> 8;
        now[i] = now[i + 1] = now[i + 2] = 150 + (((grey - 150) * 3) >> 3);
      }
    }
  }
  const drawing = canvas.getContext("2d");
  drawing.putImageData(b, 0, 0);
  const around = boxes(touched, columns, rows);
  drawing.strokeStyle = "#e2008c";
  drawing.lineWidth = 2;
  for (const box of around.slice(0, 200)) drawing.strokeRect(box.x - 2, box.y - 2, box.width + 4, box.height + 4);
  return {changed, share: changed / (width * height), boxes: around};
}
