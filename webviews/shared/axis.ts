/** How far an axis reaches. Pure. */
import { noise } from "./chartModel.ts";

/**
 * Room around the data; areas start at zero, and so do values close to it. Noise alone does not stretch the axis.
 * @param least what it spans at the least
 */
export function axisRange(
  [low, high]: readonly [number, number],
  fromZero: boolean,
  least = 0,
): [number, number] {
  if (high - low < least) {
    const bottom = low >= 0 && (fromZero || high <= least) ? 0 : (low + high - least) / 2;
    return [bottom, bottom + least];
  }
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (size < noise) return [0, 1];
  if (high - low <= noise * size && !fromZero)
    return [Math.min(low, low * 0.9, low * 1.1), Math.max(high, high * 0.9, high * 1.1)];
  const [bottom, top] = fromZero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
  const room = (top - bottom) * 0.08;
  const nearZero = low >= 0 && (fromZero || low < (high - low) * 0.6);
  return [nearZero ? 0 : bottom - room, top > 0 || !fromZero ? top + room : 0];
}
