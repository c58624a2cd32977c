/**
 * Centres of a group's successes, as SRPO's released code finds them: DBSCAN (reach ½, two points make a cluster) of
 * the vectors with each number standardised, and the mean of each cluster; without a cluster, the mean of all.
 */
import { mean } from "../../../../shared/lib/mean.ts";
import { distance } from "../../../lib/algebra/linear.ts";

type Vector = ArrayLike<number>;

const reach = 0.5;

export function centresOf(vectors: readonly Vector[]): Vector[] {
  const scaled = standardised(vectors);
  const clusters = joined(scaled).filter((members) => members.length > 1);
  const groups = clusters.length > 0 ? clusters : [[...vectors.keys()]];
  return groups.map((members) => meanOf(members.map((at) => vectors[at]!)));
}

/** Less the mean, over the standard deviation; a number that is the same in all is only centred. */
function standardised(vectors: readonly Vector[]): Float64Array[] {
  const centre = meanOf(vectors);
  const spread = centre.map((own, i) => {
    const variance = mean(vectors.map((vector) => (vector[i]! - own) ** 2));
    return variance === 0 ? 1 : Math.sqrt(variance);
  });
  return vectors.map((vector) => centre.map((own, i) => (vector[i]! - own) / spread[i]!));
}

/** Where two points suffice, DBSCAN's clusters are what steps of at most `reach` connect. */
function joined(points: readonly Vector[]): number[][] {
  const left = new Set(points.keys());
  const clusters: number[][] = [];
  for (const first of left) {
    left.delete(first);
    const members = [first];
    for (const at of members)
      for (const other of left)
        if (distance(points[at]!, points[other]!) <= reach) {
          left.delete(other);
          members.push(other);
        }
    clusters.push(members);
  }
  return clusters;
}

const meanOf = (vectors: readonly Vector[]): Float64Array =>
  Float64Array.from(vectors[0]!, (_, i) => mean(vectors.map((vector) => vector[i]!)));
