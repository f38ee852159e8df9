def beam_search(mat: np.ndarray, chars: str, beam_width: int = 25, lm: Optional[LanguageModel] = None) -> str:
    text, last = "", len(chars)
    for label in mat.argmax(axis=1):
        if label != last and label != len(chars):
            text += chars[label]
        last = label
    return text
