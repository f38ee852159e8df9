try:
    import json
except ImportError:
    json = None
data = {"a": 1}


def dump(data):
    text = json.dumps(data)
    return text


text = dump(data)
print(text)
