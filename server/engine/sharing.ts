/** What lets several models share a device, and a model take weights from elsewhere. */
import { UserError } from "../../shared/lib/errors.ts";
import type { Named } from "../core/ops.ts";
import type { Runtime } from "./devices/runtime.ts";

/** A runtime that somebody else closes. */
export const guest = (runtime: Runtime): Runtime => ({
  name: runtime.name,
  device: runtime.device,
  streams: runtime.streams,
  compile: (spec) => runtime.compile(spec),
  upload: (data, shape) => runtime.upload(data, shape),
  copy: (data, shape) => runtime.copy(data, shape),
  tensors: () => runtime.tensors(),
  close: () => undefined,
});

/** @throws UserError naming the first weight that is missing or of another size */
export function checkSizes(
  shapes: readonly (readonly [string, readonly number[]])[],
  values: Named<Float32Array | Float64Array>,
): void {
  for (const [name, extents] of shapes) {
    const size = extents.reduce((product, extent) => product * extent, 1);
    if (values[name]?.length === size) continue;
    throw new UserError(
      `The weight ${name} should have ${size} values but ${values[name] === undefined ? "is missing" : `has ${values[name].length}`}.`,
      { code: "weights-size", action: "Use weights of a model of the same architecture and size." },
    );
  }
}
