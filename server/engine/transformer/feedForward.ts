/** down(act(gate(y)) · up(y)), or down(act(up(y))), forward and backward. */
import { take, type Named, type Ops } from "../../core/ops.ts";
import { linear, linearBackward, type Gradients } from "./linear.ts";
import type { Shape } from "./weights.ts";

/** u(x) = √(8/π)·(x + CUBE·x³): x·σ(u) is the tanh form of GELU (Hendrycks and Gimpel), since (1 + tanh(z))/2 = σ(2z). */
const ROOT = Math.sqrt(8 / Math.PI);
const CUBE = 0.044715;

/** x·σ(x) (silu) or x·σ(u(x)) (gelu), and the sigmoid. */
function activate<T>(ops: Ops<T>, { style }: Shape, x: T): { sigmoid: T; active: T } {
  const inner =
    style.activation === "silu" ? x : ops.mul(x, ops.shift(ops.scale(ops.square(x), ROOT * CUBE), ROOT));
  const sigmoid = ops.sigmoid(inner);
  return { sigmoid, active: ops.mul(x, sigmoid) };
}
/** dx = d·σ + d·x·σ·(1 − σ)·u′(x). */
function activateBackward<T>(ops: Ops<T>, { style }: Shape, x: T, sigmoid: T, d: T): T {
  const byInner = ops.sigmoidGradient(sigmoid, ops.mul(d, x));
  const slope = (): T => ops.shift(ops.scale(ops.square(x), 3 * ROOT * CUBE), ROOT);
  return ops.add(ops.mul(d, sigmoid), style.activation === "silu" ? byInner : ops.mul(byInner, slope()));
}

/** What the way back needs, by name, and the block's result. */
export function feedForward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  y: T,
): { kept: Record<string, T>; result: T } {
  const down = (hidden: T): T => linear(ops, folded, `${layer}.down`, hidden);
  const lean = Object.fromEntries(
    feedForwardLean(shape).map((name) => [name, linear(ops, folded, `${layer}.${name}`, y)]),
  );
  const kept = feedForwardAgain(ops, shape, lean);
  return { kept, result: down(take(kept, "hidden")) };
}
/** Names of what is kept, all `[tokens, hidden]`. */
export const feedForwardKept = ({ style }: Shape): string[] =>
  style.gated ? ["gate", "up", "sigmoid", "active", "hidden"] : ["up", "sigmoid", "hidden"];
/** Those of them that only a product gives; the others follow from these element by element. */
export const feedForwardLean = ({ style }: Shape): string[] => (style.gated ? ["gate", "up"] : ["up"]);
export function feedForwardAgain<T>(ops: Ops<T>, shape: Shape, lean: Named<T>): Record<string, T> {
  const up = take(lean, "up");
  if (!shape.style.gated) {
    const { sigmoid, active } = activate(ops, shape, up);
    return { up, sigmoid, hidden: active };
  }
  const gate = take(lean, "gate");
  const { sigmoid, active } = activate(ops, shape, gate);
  return { gate, up, sigmoid, active, hidden: ops.mul(active, up) };
}

/** Gradient by y, the block's input after its norm. */
export function feedForwardBackward<T>(
  ops: Ops<T>,
  shape: Shape,
  folded: Named<T>,
  layer: number,
  kept: Named<T>,
  d: T,
  gradients: Gradients<T>,
): T {
  const keep = (name: string): T => take(kept, name);
  const by = (name: string, dz: T): T => linearBackward(ops, folded, `${layer}.${name}`, dz);
  gradients.matrix(`${layer}.down`, keep("hidden"), d);
  const dHidden = by("down", d);
  if (!shape.style.gated) {
    const dUp = activateBackward(ops, shape, keep("up"), keep("sigmoid"), dHidden);
    gradients.matrix(`${layer}.up`, keep("y2"), dUp);
    return by("up", dUp);
  }
  const dUp = ops.mul(dHidden, keep("active"));
  const dActive = ops.mul(dHidden, keep("up"));
  const dGate = activateBackward(ops, shape, keep("gate"), keep("sigmoid"), dActive);
  gradients.matrix(`${layer}.gate`, keep("y2"), dGate);
  gradients.matrix(`${layer}.up`, keep("y2"), dUp);
  return ops.add(by("gate", dGate), by("up", dUp));
}
