/** How many items two lists begin with in common. */
export function commonPrefix<Item>(one: ArrayLike<Item>, other: ArrayLike<Item>): number {
  const most = Math.min(one.length, other.length);
  let count = 0;
  while (count < most && one[count] === other[count]) count += 1;
  return count;
}
