/** Columns that live from one step to the next: fresh pages cost more than what is computed in them. */
export class Space {
  private readonly columns = new Map<string, Float64Array>();

  /** At least so long; what it holds is what it held. */
  column(name: string, size: number): Float64Array {
    const known = this.columns.get(name);
    if (known !== undefined && known.length >= size)
      return known.length === size ? known : known.subarray(0, size);
    const column = new Float64Array(size);
    this.columns.set(name, column);
    return column;
  }
}
