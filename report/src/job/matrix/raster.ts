// Cells that are too small for shapes: a pixel has the colour of the worst of those that fall on it.
import { worstOfRows, type Plane } from "./plane.js";
import type { View } from "./view.js";

/** Where pixels begin, in cells: bounds[i] to bounds[i + 1] fall on pixel i. */
function boundsOf(start: number, perPixel: number, pixels: number, most: number): Int32Array {
    const bounds = new Int32Array(pixels + 1);
    for (let at = 0; at <= pixels; at++) {
        bounds[at] = Math.min(most, Math.floor(start + at * perPixel));
    }
    return bounds;
}

/** The image of cells that are too small for shapes, in device pixels. */
export function rasterise(plane: Plane, view: View, colours: Uint32Array, image: ImageData, ratio: number): void {
    const { width, height } = image;
    const pixels = new Uint32Array(image.data.buffer);
    const across = boundsOf(view.x, 1 / (view.sx * ratio), width, plane.columns);
    const down = boundsOf(view.y, 1 / (view.sy * ratio), height, plane.rows);
    const first = across[0]!;
    const line = new Uint8Array(Math.min(plane.columns, across[width]! + 1) - first);
    const empty = colours[0]!;
    let drawnFrom = -1;
    let drawnTo = -1;
    for (let y = 0; y < height; y++) {
        const from = down[y]!;
        const to = Math.max(from + 1, down[y + 1]!);
        const at = y * width;
        if (from >= plane.rows) {
            pixels.fill(empty, at);
            return;
        }
        if (from === drawnFrom && to === drawnTo) {
            pixels.copyWithin(at, at - width, at);
            continue;
        }
        drawnFrom = from;
        drawnTo = to;
        worstOfRows(plane, from, to, first, line);
        for (let x = 0; x < width; x++) {
            const start = across[x]! - first;
            const end = across[x + 1]! - first;
            let worst = start < line.length ? line[start]! : 0;
            for (let column = start + 1; column < end; column++) {
                if (line[column]! > worst) {
                    worst = line[column]!;
                }
            }
            pixels[at + x] = start < line.length ? colours[worst]! : empty;
        }
    }
}
