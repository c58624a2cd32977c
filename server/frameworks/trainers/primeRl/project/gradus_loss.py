"""Losses of Gradus as prime-rl asks for one: the sum over the tokens of a sequence. prime-rl divides it by the tokens of the step.

The ratio is of the policy to the distribution that vLLM drew from. A token's regulariser is kl_tau times its squared log-ratio, as
in prime-rl's own losses.
"""
import torch
from prime_rl.trainer.rl.loss import LossOutputs


def log_ratios(inputs, ratio):
    """By token, or of the whole response: the mean over its tokens, its value with each token's own gradient, or the sum."""
    log = inputs.trainer_logprobs - inputs.inference_logprobs
    if ratio == "token":
        return log
    trained = log[inputs.loss_mask]
    if ratio == "sequence_sum":
        return trained.sum().expand_as(log)
    mean = trained.sum() / max(len(trained), 1)
    return mean.expand_as(log) if ratio == "sequence" else mean.detach() + log - log.detach()


def outputs(inputs, each, touched, kl_tau):
    """`each`: the loss of each token; `touched`: those on which a bound acts."""
    mask = inputs.loss_mask
    each = each + kl_tau * (inputs.trainer_logprobs - inputs.inference_logprobs) ** 2
    if inputs.loss_weights is not None:
        each = each * inputs.loss_weights
    return LossOutputs(loss=each[mask].sum(), metrics={"is_masked": (touched & mask).sum() / mask.sum().clamp(min=1)})


def clipped(inputs, low, high, dual=None, delta=None, ratio="token", adv_tau=1.0, kl_tau=0.0):
    """PPO's clip. dual: the largest ratio that counts where the advantage is negative; delta: a cap on the unclipped ratio."""
    advantage = adv_tau * inputs.advantages
    rho = torch.exp(log_ratios(inputs, ratio))
    held = rho if delta is None else rho.clamp(max=delta)
    gain = torch.minimum(held * advantage, rho.clamp(1 - low, 1 + high) * advantage)
    if dual is not None:
        gain = torch.where(advantage < 0, torch.maximum(gain, dual * advantage), gain)
    return outputs(inputs, -gain, gain != rho * advantage, kl_tau)


def reinforce(inputs, adv_tau=1.0, kl_tau=0.0):
    """The policy gradient without a ratio."""
    each = -adv_tau * inputs.advantages * inputs.trainer_logprobs
    return outputs(inputs, each, torch.zeros_like(inputs.loss_mask), kl_tau)


def cispo(inputs, low=None, high=None, one_sided=False, ratio="token", adv_tau=1.0, kl_tau=0.0):
    """The policy gradient weighted by a bounded ratio through which no gradient flows."""
    advantage = adv_tau * inputs.advantages
    rho = torch.exp(log_ratios(inputs, ratio)).detach()
    weight = rho
    if high is not None:
        capped = weight.clamp(max=1 + high)
        weight = torch.where(advantage > 0, capped, weight) if one_sided else capped
    if low is not None:
        raised = weight.clamp(min=1 - low)
        weight = torch.where(advantage < 0, raised, weight) if one_sided else raised
    return outputs(inputs, -weight * advantage * inputs.trainer_logprobs, weight != rho, kl_tau)


def sapo(inputs, tau_pos=1.0, tau_neg=1.05, ratio="token", adv_tau=1.0, kl_tau=0.0):
    """A smooth gate around ratio 1."""
    advantage = adv_tau * inputs.advantages
    tau = torch.where(advantage > 0, tau_pos, tau_neg)
    gate = torch.sigmoid(tau * (torch.exp(log_ratios(inputs, ratio)) - 1)) * 4 / tau
    return outputs(inputs, -gate * advantage, torch.zeros_like(inputs.loss_mask), kl_tau)


def dppo_kl(inputs, low=0.2, high=0.2, cap=None, adv_tau=1.0, kl_tau=0.0):
    """The policy gradient by a capped ratio, without tokens whose probability has moved too far, by the KL of "this token" or "another"."""
    advantage = adv_tau * inputs.advantages
    now, then = inputs.trainer_logprobs.detach(), inputs.inference_logprobs
    # Keeps the logarithm of a certain token's complement finite.
    rest = torch.log((1 - then.exp() + 1e-8) / (1 - now.exp() + 1e-8))
    moved = then.exp() * (then - now) + (1 - then.exp()) * rest
    gains = advantage > 0
    shut = torch.where(gains, (now > then) & (moved > high), (now < then) & (moved > low))
    weight = torch.exp(now - then).clamp(max=cap) if cap is not None else torch.exp(now - then)
    return outputs(inputs, torch.where(shut, 0.0, -weight * advantage * inputs.trainer_logprobs), shut, kl_tau)
