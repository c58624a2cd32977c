/**
 * ε of (ε, δ) after a number of Gaussian mechanisms, each of zero-concentrated privacy ρ = 1/(2 noise²): they add up, and
 * ε = ρ + 2√(ρ ln 1/δ). Infinite without noise.
 * @param noise standard deviation over sensitivity
 */
export function epsilonOf(steps: number, noise: number, delta: number): number {
  const rho = steps === 0 ? 0 : steps / (2 * noise * noise);
  return rho + 2 * Math.sqrt(rho * Math.log(1 / delta));
}
