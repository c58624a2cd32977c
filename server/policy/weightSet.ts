/** One set of weights on the device, with the folded matrices that programs use. It may have several owners. */
import type { Programs } from "./programs.ts";
import { freeAll, prefixed, type DeviceTensor, type Tensors } from "./runtime.ts";

export class WeightSet {
  private owners = 1;
  private readonly foldedTensors: Record<string, DeviceTensor>;
  /** Takes over the tensors. */
  constructor(
    programs: Programs,
    readonly tensors: Tensors,
  ) {
    this.foldedTensors = programs.fold().run(tensors);
  }
  /** One more owner of the same values: a snapshot costs nothing, since nobody writes to them. */
  share(): this {
    this.owners += 1;
    return this;
  }
  /** Feeds `w/…` of the programs. */
  get folded(): Tensors {
    return prefixed("w/", this.foldedTensors);
  }
  /** Frees the values when the last owner lets go. */
  close(): void {
    this.owners -= 1;
    if (this.owners > 0) return;
    freeAll(this.tensors);
    freeAll(this.foldedTensors);
  }
}
