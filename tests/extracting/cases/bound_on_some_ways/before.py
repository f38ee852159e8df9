import sys
name = "default"
# override
if len(sys.argv) > 5:
    name = sys.argv[5]
print(name)
