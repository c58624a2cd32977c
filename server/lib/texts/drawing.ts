/**
 * Small drawings in a subset of SVG, and their pixels. `<rect x y width height fill/>`, `<circle cx cy r fill/>`,
 * `<line x1 y1 x2 y2 stroke/>` with whole numbers; a shade is 1 to 9, and later shapes cover earlier ones.
 */

export type Shape = { readonly x: number; readonly y: number; readonly shade: number } & (
  | { readonly kind: "rect"; readonly width: number; readonly height: number }
  | { readonly kind: "circle"; readonly r: number }
  | { readonly kind: "line"; readonly toX: number; readonly toY: number }
);

export const isShade = (text: string): boolean => /^[1-9]$/.test(text);

export function drawing(shapes: readonly Shape[]): string {
  return shapes
    .map((shape) => {
      const { x, y, shade } = shape;
      switch (shape.kind) {
        case "rect":
          return `<rect x="${x}" y="${y}" width="${shape.width}" height="${shape.height}" fill="${shade}"/>`;
        case "circle":
          return `<circle cx="${x}" cy="${y}" r="${shape.r}" fill="${shade}"/>`;
        case "line":
          return `<line x1="${x}" y1="${y}" x2="${shape.toX}" y2="${shape.toY}" stroke="${shade}"/>`;
      }
    })
    .join("\n");
}

const element = /<(rect|circle|line)\b([^<>]*?)\/?>/g;
const attribute = /([a-z]+\d?)\s*=\s*"(\d{1,3})"/g;
/** Shapes of a drawing that are read. */
const most = 256;

/** The shapes of a text; null: it has none, or one lacks an attribute. */
export function shapesOf(text: string): readonly Shape[] | null {
  const shapes: Shape[] = [];
  for (const [, kind, inner = ""] of [...text.matchAll(element)].slice(0, most)) {
    const given = new Map([...inner.matchAll(attribute)].map(([, name, value]) => [name, Number(value)]));
    const numbers = (...names: readonly string[]): readonly number[] | null => {
      const found = names.flatMap((name) => given.get(name) ?? []);
      return found.length === names.length ? found : null;
    };
    const shape = shapeOf(kind ?? "", numbers, given.get("fill") ?? given.get("stroke") ?? 9);
    if (shape === null) return null;
    shapes.push(shape);
  }
  return shapes.length === 0 ? null : shapes;
}

function shapeOf(
  kind: string,
  numbers: (...names: readonly string[]) => readonly number[] | null,
  shade: number,
): Shape | null {
  if (kind === "circle") {
    const [x = 0, y = 0, r = 0] = numbers("cx", "cy", "r") ?? [];
    return numbers("cx", "cy", "r") && { kind, x, y, r, shade };
  }
  if (kind === "line") {
    const [x = 0, y = 0, toX = 0, toY = 0] = numbers("x1", "y1", "x2", "y2") ?? [];
    return numbers("x1", "y1", "x2", "y2") && { kind, x, y, toX, toY, shade };
  }
  const [x = 0, y = 0, width = 0, height = 0] = numbers("x", "y", "width", "height") ?? [];
  return numbers("x", "y", "width", "height") && { kind: "rect", x, y, width, height, shade };
}

/** Pixels row by row, 0 to 1. */
export function rastered(shapes: readonly Shape[], side: number): Float64Array {
  const pixels = new Float64Array(side * side);
  for (const shape of shapes) {
    const shade = Math.min(9, Math.max(0, shape.shade)) / 9;
    const paint = (x: number, y: number): void => {
      if (x >= 0 && y >= 0 && x < side && y < side) pixels[y * side + x] = shade;
    };
    if (shape.kind === "line") paintLine(shape, paint);
    else for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) if (covers(shape, x, y)) paint(x, y);
  }
  return pixels;
}

function covers(shape: Exclude<Shape, { kind: "line" }>, x: number, y: number): boolean {
  if (shape.kind === "circle") return (x - shape.x) ** 2 + (y - shape.y) ** 2 <= shape.r ** 2;
  return x >= shape.x && y >= shape.y && x < shape.x + shape.width && y < shape.y + shape.height;
}

/** Both ends included, a pixel a step along the longer axis. */
function paintLine(
  { x, y, toX, toY }: Extract<Shape, { kind: "line" }>,
  paint: (x: number, y: number) => void,
): void {
  const steps = Math.max(Math.abs(toX - x), Math.abs(toY - y));
  for (let step = 0; step <= steps; step++) {
    const share = steps === 0 ? 0 : step / steps;
    paint(Math.round(x + share * (toX - x)), Math.round(y + share * (toY - y)));
  }
}
