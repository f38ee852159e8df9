try:
    import json
except ImportError:
    json = None
data = {"a": 1}
text = json.dumps(data)
print(text)
