def criterion(out_1, out_2, tau_plus, batch_size, beta, estimator):
    everything = [*out_1, *out_2]
    number = len(everything)
    half = number // 2
    total = 0.0
    for place, anchor in enumerate(everything):
        partner = (place + half) % number
        scores = torch.stack(
            [anchor.dot(other) for spot, other in enumerate(everything) if spot not in (place, partner)]
        ) / temperature
        positive = anchor.dot(everything[partner]) / temperature
        if estimator == "easy":
            negative = scores.logsumexp(0)
        elif estimator == "hard":
            n = 2 * half - 2
            tilted = (scores * (1 + beta)).logsumexp(0) - (scores * beta).logsumexp(0)
            mean_of_tilted = n * tilted.exp()
            corrected = (mean_of_tilted - n * tau_plus * positive.exp()) / (1 - tau_plus)
            negative = torch.clamp(corrected, min=n * float(np.exp(-1.0 / temperature))).log()
        else:
            raise Exception("estimator has to be hard or easy")
        total = total + torch.logaddexp(positive, negative) - positive
    return total / number
