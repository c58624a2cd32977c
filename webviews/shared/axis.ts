/** How far an axis reaches. Pure. */
import { noise } from "./chartModel.ts";

/** Room around the data; areas start at zero, and so do values close to it. Noise alone does not stretch the axis. */
export function axisRange([low, high]: readonly [number, number], fromZero: boolean): [number, number] {
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size < noise) return [0, 1];
  if (high - low <= noise * size && !fromZero)
    return [Math.min(low, low * 0.9, low * 1.1), Math.max(high, high * 0.9, high * 1.1)];
  const room = (high - (fromZero ? 0 : low)) * 0.08;
  return [fromZero || (low >= 0 && low < (high - low) * 0.6) ? 0 : low - room, high + room];
}
