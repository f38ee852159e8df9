"""Tables of results."""



def pivot_scores(table, by="model", normalise=True):
    """Mean score per group and metric, best first."""
    clean = table.dropna(subset=["score"]).copy()
    clean["score"] = clean["score"].clip(0, 100)
    wide = clean.pivot_table(index=by, columns="metric", values="score", aggfunc="mean")
    if normalise:
        wide = (wide - wide.min()) / (wide.max() - wide.min()).replace(0, 1)
    wide["mean"] = wide.mean(axis=1)
    return wide.sort_values("mean", ascending=False).reset_index()
